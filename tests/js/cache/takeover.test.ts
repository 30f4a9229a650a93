import assert from 'node:assert/strict';
import { it, mock } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import type { CachedSessionService } from '../../../js/cache/index.js';
import { CoreStore } from '../../../js/storage/core_store.js';
import { createMemoryCore } from '../../../js/wasm/core.js';
import { loadWasm } from '../../../js/wasm/loading.js';
import { linkedStore, type Pass, serviceOver } from '../../simulation/cache/linked_service.js';
import { Gate } from './copies/held_local.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until } from './fixture.js';

it('a deletion that arrives late does not delete a session that was created again', async () => {
  const server = new Server();
  const gate = new Gate();
  const openTab = await openTabs(server);
  // A frozen tab renews no lease.
  const frozen = openTab(() => (gate.isReached ? gate : undefined));
  const second = openTab();
  await frozen.createSession(KEY);
  await frozen.sync();
  server.intercept = async ({ method }) => {
    if (method === 'DELETE' && !gate.isReached) await gate.pass();
    return undefined;
  };
  await frozen.deleteSession(KEY);
  await until(() => gate.isReached);
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 5000 });
  try {
    await second.sync();
    assert.equal(await server.service.getSession(KEY), undefined);
    const session = await second.createSession({ ...KEY, state: { again: true } });
    await second.appendEvent({ session, event: event('e1') });
    await second.sync();
  } finally {
    mock.timers.reset();
  }
  gate.open();
  await frozen.sync();
  const stored = await server.service.getSession(KEY);
  assert.deepEqual([stored?.state, idsOf(stored)], [{ again: true }, ['e1']]);
  assert.deepEqual(idsOf(await frozen.getSession(KEY)), ['e1']);
  await Promise.all([frozen.close(), second.close()]);
});

/** Opens two tabs. The first one freezes while it sends an event, then a rename waits too. */
async function openFrozen(server: Server, title: string) {
  const gate = new Gate();
  let isFrozen = false;
  const openTab = await openTabs(server);
  const frozen = openTab(() => (isFrozen ? gate : undefined));
  const second = openTab();
  const session = await frozen.createSession(KEY);
  await frozen.sync();
  server.intercept = async ({ method }) => {
    if (method === 'POST' && !gate.isReached) await gate.pass();
    return undefined;
  };
  await frozen.appendEvent({ session, event: event('e1') });
  await until(() => gate.isReached);
  await frozen.updateSession(KEY, { title });
  // It renews no lease.
  isFrozen = true;
  return { frozen, second, gate };
}

it('a tab that was frozen sends nothing of what it read before', async () => {
  const server = new Server();
  const { frozen, second, gate } = await openFrozen(server, 'old');
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 5000 });
  try {
    await second.sync();
    await second.updateSession(KEY, { title: 'new' });
    await second.sync();
  } finally {
    mock.timers.reset();
  }
  gate.open();
  await frozen.sync();
  const stored = await server.service.getSession(KEY);
  assert.deepEqual([stored?.title, idsOf(stored)], ['new', ['e1']]);
  await Promise.all([frozen.close(), second.close()]);
});

/** Opens tabs over one local storage, whose requests a test may hold. */
async function openTabs(server: Server) {
  const store = await openStore();
  return tabsOver(server, store);
}

async function openStore(): Promise<CoreStore> {
  await loadWasm(true);
  return new CoreStore(createMemoryCore(), true);
}

function tabsOver(server: Server, store: CoreStore) {
  return (hold: (verb: string) => Gate | undefined = () => undefined): CachedSessionService => {
    const pass: Pass = async (verb, run) => {
      await hold(verb)?.pass();
      return run();
    };
    return openCache(server, { local: serviceOver('memory', linkedStore(store, pass)) }).cache;
  };
}

/** Holds the first record that is written after a copy was made. */
function afterCopy(gate: Gate): (verb: string) => Gate | undefined {
  let isMade = false;
  return (verb) => {
    isMade ||= verb === 'create';
    return isMade && verb === 'update' ? gate : undefined;
  };
}

it('the remote gets the creation of the copy if two tabs create one session at once', async () => {
  const server = new Server();
  const openTab = await openTabs(server);
  const [beforeCopy, beforeRecord] = [new Gate(), new Gate()];
  const loser = openTab((verb) => (verb === 'create' ? beforeCopy : undefined));
  const winner = openTab(afterCopy(beforeRecord));
  const third = openTab();
  const lost = assert.rejects(
    loser.createSession({ ...KEY, state: { by: 'loser' } }),
    hasCode('already_exists'),
  );
  await until(() => beforeCopy.isReached);
  const won = winner.createSession({ ...KEY, state: { by: 'winner' } });
  await until(() => beforeRecord.isReached);
  await third.sync();
  assert.deepEqual((await server.service.getSession(KEY))?.state, { by: 'winner' });
  for (const gate of [beforeCopy, beforeRecord]) gate.open();
  await Promise.all([lost, won]);
  await third.sync();
  for (const cache of [loser, winner, third]) {
    assert.deepEqual((await cache.getSession(KEY))?.state, { by: 'winner' });
    await cache.close();
  }
});

it('only what was written into a copy without a record is set aside if the remote has deleted the session', async () => {
  const server = new Server();
  const created = await server.service.createSession(KEY);
  await server.service.appendEvent({ session: created, event: event('e1') });
  const openTab = await openTabs(server);
  const beforeRecord = new Gate();
  const frozen = openTab(afterCopy(beforeRecord));
  const read = frozen.getSession(KEY);
  await until(() => beforeRecord.isReached);
  server.isOffline = true;
  const second = openTab();
  const session = await second.getSession(KEY);
  await second.appendEvent({ session: session!, event: event('e2') });
  await server.service.deleteSession(KEY);
  server.isOffline = false;
  await second.sync();
  const [entry] = await second.outbox.list();
  assert.deepEqual([entry?.error?.code, idsOf(entry)], ['not_found', ['e2']]);
  beforeRecord.open();
  await read.catch(() => undefined);
  for (const cache of [frozen, second]) await cache.close();
});

it('a rename of a tab that freezes before it is shown is sent by another tab', async () => {
  const server = new Server();
  const openTab = await openTabs(server);
  const beforeCopy = new Gate();
  const frozen = openTab((verb) => (verb === 'describe' ? beforeCopy : undefined));
  const second = openTab();
  const session = await second.createSession(KEY);
  await second.sync();
  const renamed = frozen.updateSession(KEY, { title: 'late' });
  await until(() => beforeCopy.isReached);
  await second.appendEvent({ session, event: event('e1') });
  await second.sync();
  assert.equal((await server.service.getSession(KEY))?.title, 'late');
  // A fetch gives the copy the title of the remote.
  await second.sync();
  assert.equal(
    (await second.getSession({ ...KEY, config: { reads: 'cache-only' } }))?.title,
    'late',
  );
  beforeCopy.open();
  await renamed;
  await frozen.sync();
  for (const service of [server.service, frozen, second]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([read?.title, idsOf(read)], ['late', ['e1']]);
  }
  await Promise.all([frozen.close(), second.close()]);
});

it('a rename of a frozen tab that another tab has sent is not sent again', async () => {
  const server = new Server();
  const { frozen, second, gate } = await openFrozen(server, 'ours');
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 5000 });
  try {
    await second.sync();
  } finally {
    mock.timers.reset();
  }
  assert.equal((await server.service.getSession(KEY))?.title, 'ours');
  await server.service.updateSession(KEY, { title: 'of another device' });
  gate.open();
  await frozen.sync();
  await second.sync();
  for (const service of [server.service, frozen, second]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([read?.title, idsOf(read)], ['of another device', ['e1']]);
  }
  await Promise.all([frozen.close(), second.close()]);
});

it('a copy that another tab has made while its deletion waits leaves no record behind', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const store = await openStore();
  const openTab = tabsOver(server, store);
  const beforeCopy = new Gate();
  const frozen = openTab((verb) => (verb === 'create' ? beforeCopy : undefined));
  const second = openTab();
  const read = frozen.getSession(KEY);
  await until(() => beforeCopy.isReached);
  await second.getSession(KEY);
  server.isOffline = true;
  await second.deleteSession(KEY);
  beforeCopy.open();
  await read;
  server.isOffline = false;
  await second.sync();
  assert.equal(await second.getSession(KEY), undefined);
  const local = serviceOver(
    'memory',
    linkedStore(store, (_verb, run) => Promise.resolve(run())),
  );
  const records = await local.getUserState({ appName: '["ada","shop"] records', userId: 'ada' });
  assert.deepEqual(
    Object.keys(records).filter((name) => name.startsWith('session ')),
    [],
  );
  await Promise.all([frozen.close(), second.close()]);
});

it('an event that is dropped while another tab sends the creation of its session is fetched again', async () => {
  const server = new Server();
  server.isOffline = true;
  const local = new InMemorySessionService();
  const { cache: sender } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  await sender.createSession({ ...KEY, events: [event('e1', { n: 1 }), event('e2')] });
  const gate = new Gate();
  server.intercept = async ({ method }) => {
    if (method === 'POST' && !gate.isReached) await gate.pass();
    return undefined;
  };
  server.isOffline = false;
  const sent = sender.sync();
  await until(() => gate.isReached);
  await second.outbox.drop(KEY, 'e1');
  gate.open();
  await sent;
  await second.sync();
  for (const service of [server.service, sender, second]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([idsOf(read), read?.state], [['e1', 'e2'], { n: 1 }]);
  }
  await Promise.all([sender.close(), second.close()]);
});
