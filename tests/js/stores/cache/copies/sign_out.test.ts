import assert from 'node:assert/strict';
import { it } from 'node:test';

import { type OutboxEntry, signOut } from '../../../../../js/service/cache/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server } from '../fixture.js';
import { entriesOf, Gate } from '../held_store.js';

async function withUnsent() {
  const server = new Server();
  server.isOffline = true;
  const { cache, local } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  return { server, cache, local };
}

it('signOut sends what waits, erases the local data and closes the service', async () => {
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

it('signOut refuses wrong options', async () => {
  const { cache } = openCache(new Server());
  for (const options of [{}, { unsent: 'keep' }, { unsent: 'send', timeoutMs: -1 }]) {
    await assert.rejects(signOut(cache, options as never), hasCode('invalid_argument'));
  }
  await cache.close();
});
