import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  type CachedSessionService,
  type OutboxEntry,
  signOut,
} from '../../../../../js/service/cache/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server } from '../fixture.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { entriesOf, Gate, HeldStore } from '../held_store.js';

async function withUnsent() {
  const server = new Server();
  server.isOffline = true;
  const { cache, local } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  return { server, cache, local };
}

it('signOut sends what waits, forgets the local data and closes the service', async () => {
  const { server, cache, local } = await withUnsent();
  server.isOffline = false;
  assert.equal(await signOut(cache, { unsent: 'send' }), true);
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
  assert.deepEqual(await entriesOf(local, 'outbox'), []);
  assert.deepEqual(await entriesOf(local, 'states'), []);
  await assert.rejects(cache.getSession(KEY), hasCode('closed'));
});

it('signOut without a connection leaves all as it was, unless the unsent may be lost', async () => {
  const { cache } = await withUnsent();
  assert.equal(await signOut(cache, { unsent: 'send' }), false);
  const asked: OutboxEntry[][] = [];
  const ask = (isLost: boolean) => (entries: readonly OutboxEntry[]) => {
    asked.push([...entries]);
    return Promise.resolve(isLost);
  };
  assert.equal(await signOut(cache, { unsent: ask(false) }), false);
  assert.equal((await cache.outbox.list()).length, 1);
  assert.equal(await signOut(cache, { unsent: ask(true) }), true);
  assert.deepEqual(
    asked.map((entries) => entries.map(({ key, events }) => [key, idsOf({ events })])),
    [[[KEY, ['e1']]], [[KEY, ['e1']]]],
  );
  await assert.rejects(cache.outbox.list(), hasCode('closed'));
});

it('signOut does not hang at a remote that never answers, and asks for nothing if it may drop', async () => {
  const { server, cache } = await withUnsent();
  server.isOffline = false;
  const gate = new Gate();
  server.intercept = () => gate.pass().then(() => undefined);
  assert.equal(await signOut(cache, { unsent: 'send', timeoutMs: 50 }), false);
  assert.equal(await signOut(cache, { unsent: 'drop' }), true);
  gate.open();
  assert.equal(await server.service.getSession(KEY), undefined);
});

/** Signs out of a cache, and returns what it asks about. */
async function askedBy(cache: CachedSessionService): Promise<readonly OutboxEntry[] | undefined> {
  let asked: readonly OutboxEntry[] | undefined;
  const unsent = (entries: readonly OutboxEntry[]): Promise<boolean> => {
    asked = entries;
    return Promise.resolve(false);
  };
  assert.equal(await signOut(cache, { unsent }), asked === undefined);
  return asked;
}

it('signOut waits for a write that is being stored, and counts it', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  const gate = new Gate();
  local.before = (mode) => (mode === 'readwrite' ? gate.pass() : undefined);
  const writing = cache.appendEvent({ session, event: event('e1') });
  setTimeout(gate.open, 50);
  const [entry] = (await askedBy(cache)) ?? [];
  assert.deepEqual(idsOf(entry), ['e1']);
  await writing;
});

it('signOut does not sign out while something is still being stored after timeoutMs', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  const session = await cache.createSession(KEY);
  await cache.sync();
  const gate = new Gate();
  local.before = (mode) => (mode === 'readwrite' ? gate.pass() : undefined);
  const writing = cache.appendEvent({ session, event: event('e1') });
  assert.equal(await signOut(cache, { unsent: 'send', timeoutMs: 20 }), false);
  gate.open();
  await writing;
});

for (const method of ['ask', 'send'] as const) {
  it(`signOut counts a first message that a live session has just been given by ${method}`, async () => {
    const server = new Server();
    server.isOffline = true;
    const { cache } = openCache(server);
    // A run that ends without an answer stores its end, so this one ends behind the check.
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const view = liveSession(cache, KEY, {
      run: async function* () {
        await ended;
        yield* [];
      },
    });
    const writing = method === 'send' ? view.send(event('e1')) : view.ask('Which tea?');
    const [entry] = (await askedBy(cache)) ?? [];
    assert.equal(entry?.events.length, 1);
    end();
    await writing;
  });
}

it('signOut refuses wrong options', async () => {
  const { cache } = openCache(new Server());
  for (const options of [{}, { unsent: 'keep' }, { unsent: 'send', timeoutMs: -1 }]) {
    await assert.rejects(signOut(cache, options as never), hasCode('invalid_argument'));
  }
  await cache.close();
});
