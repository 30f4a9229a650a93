import assert from 'node:assert/strict';
import { it, mock } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import { CoreStore } from '../../../js/storage/core_store.js';
import { createMemoryCore, loadWasm } from '../../../js/wasm/core.js';
import { linkedStore, type Pass, serviceOver } from '../../simulation/cache/linked_service.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until } from './fixture.js';

/** A point that a test opens. */
class Gate {
  open!: () => void;
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve));
  isReached = false;

  pass(): Promise<void> {
    this.isReached = true;
    return this.#opened;
  }
}

it('a deletion that arrives late does not delete a session that was created again', async () => {
  const server = new Server();
  const local = new InMemorySessionService();
  const { cache: frozen } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  await frozen.createSession(KEY);
  await frozen.sync();
  const gate = new Gate();
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

it('a tab that was frozen sends nothing of what it read before', async () => {
  const server = new Server();
  const local = new InMemorySessionService();
  const { cache: frozen } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  const session = await frozen.createSession(KEY);
  await frozen.sync();
  const gate = new Gate();
  server.intercept = async ({ method }) => {
    if (method === 'POST' && !gate.isReached) await gate.pass();
    return undefined;
  };
  await frozen.appendEvent({ session, event: event('e1') });
  await until(() => gate.isReached);
  await frozen.updateSession(KEY, { title: 'old' });
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

it('the remote gets the creation of the copy if two tabs create one session at once', async () => {
  const server = new Server();
  await loadWasm(true);
  const store = new CoreStore(createMemoryCore(), true);
  const pass =
    (hold: (verb: string) => Gate | undefined): Pass =>
    async (verb, run) => {
      await hold(verb)?.pass();
      return run();
    };
  const through = (hold: (verb: string) => Gate | undefined = () => undefined) =>
    openCache(server, { local: serviceOver('memory', linkedStore(store, pass(hold))) }).cache;
  const [beforeCopy, beforeRecord] = [new Gate(), new Gate()];
  const loser = through((verb) => (verb === 'create' ? beforeCopy : undefined));
  let hasCopy = false;
  const winner = through((verb) => {
    hasCopy ||= verb === 'create';
    return hasCopy && verb === 'update' ? beforeRecord : undefined;
  });
  const third = through();
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
