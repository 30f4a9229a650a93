// Tabs over one local storage that freeze, or that were slow.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until } from './fixture.js';
import { Gate, HeldStore } from './held_store.js';

/**
 * Opens two tabs that tell each other nothing. The first one leads until it freezes.
 *
 * @param remote the client of the second tab; absent: its own
 */
async function openTabs(server: Server, remote?: ReturnType<Server['client']>) {
  const memory = new MemoryLocalStore();
  const ice = new Gate();
  const frozenStore = new HeldStore(memory);
  const { cache: frozen } = openCache(server, { local: frozenStore });
  const session = await frozen.createSession(KEY);
  await frozen.sync();
  const given = remote && { remote };
  const { cache: second } = openCache(server, { ...given, local: new HeldStore(memory) });
  const freeze = (): void => void (frozenStore.before = () => ice.pass());
  const thaw = (): void => {
    frozenStore.before = () => undefined;
    ice.open();
  };
  return { frozen, second, session, freeze, thaw };
}

it('a tab that was frozen sends nothing of what it read before', { timeout: 30_000 }, async () => {
  const server = new Server();
  const { frozen, second, session, freeze, thaw } = await openTabs(server);
  const gate = new Gate();
  server.intercept = async ({ method }) => {
    if (method === 'POST' && !gate.isReached) await gate.pass();
    return undefined;
  };
  await frozen.appendEvent({ session, event: event('e1') });
  await until(() => gate.isReached);
  await frozen.updateSession(KEY, { title: 'old' });
  freeze();
  // It takes over when the leadership has ended.
  await second.sync();
  await second.updateSession(KEY, { title: 'new' });
  await second.sync();
  gate.open();
  thaw();
  await frozen.sync();
  for (const service of [server.service, frozen, second]) {
    const stored = await service.getSession(KEY);
    assert.deepEqual([stored?.title, idsOf(stored)], ['new', ['e1']]);
  }
  await Promise.all([frozen.close(), second.close()]);
});

it(
  'a deletion that arrives late does not delete a session that was created again',
  { timeout: 30_000 },
  async () => {
    const server = new Server();
    const { frozen, second, freeze, thaw } = await openTabs(server);
    const gate = new Gate();
    server.intercept = async ({ method }) => {
      if (method === 'DELETE' && !gate.isReached) await gate.pass();
      return undefined;
    };
    await frozen.deleteSession(KEY);
    await until(() => gate.isReached);
    freeze();
    await second.sync();
    assert.equal(await server.service.getSession(KEY), undefined);
    const session = await second.createSession({ ...KEY, state: { again: true } });
    await second.appendEvent({ session, event: event('e1') });
    await second.sync();
    gate.open();
    thaw();
    await frozen.sync();
    const stored = await server.service.getSession(KEY);
    assert.deepEqual([stored?.state, idsOf(stored)], [{ again: true }, ['e1']]);
    assert.deepEqual(idsOf(await frozen.getSession(KEY)), ['e1']);
    await Promise.all([frozen.close(), second.close()]);
  },
);

it(
  'a tab that takes over, and whose feed is open, fetches what came before',
  { timeout: 30_000 },
  async () => {
    const server = new Server();
    const remote = server.client();
    const { frozen, second, session, freeze, thaw } = await openTabs(server, remote);
    // A live session follows runs there.
    const notices: string[] = [];
    remote.watch(
      { appName: session.appName, userId: session.userId },
      { onNotice: ({ type }) => notices.push(type) },
    );
    await until(() => notices.includes('resync'));
    await second.getSession(KEY);
    // The read asks the remote in the background.
    await pause(100);
    freeze();
    const theirs = await server.service.getSession(KEY);
    await server.service.appendEvent({ session: theirs!, event: event('e1') });
    await until(() => notices.includes('appended'));
    const copied = async () =>
      idsOf(await second.getSession({ ...KEY, config: { reads: 'cache-only' } }))?.join();
    for (let waits = 0; waits < 80 && (await copied()) !== 'e1'; waits += 1) await pause(100);
    assert.equal(await copied(), 'e1');
    thaw();
    await Promise.all([frozen.close(), second.close()]);
    await remote.close();
  },
);

it('the remote gets the creation of the local session if two tabs create one at once', async () => {
  const server = new Server();
  const local = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  const [one, other] = await Promise.allSettled([
    first.createSession({ ...KEY, state: { by: 'first' } }),
    second.createSession({ ...KEY, state: { by: 'second' } }),
  ]);
  assert.equal(one.status, 'fulfilled');
  assert.ok(other.status === 'rejected' && hasCode('already_exists')(other.reason));
  await second.sync();
  for (const service of [server.service, first, second]) {
    assert.deepEqual((await service.getSession(KEY))?.state, { by: 'first' });
  }
  await Promise.all([first.close(), second.close()]);
});

it('an event that is dropped while another tab sends the creation of its session is fetched again', async () => {
  const server = new Server();
  server.isOffline = true;
  const local = new MemoryLocalStore();
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
