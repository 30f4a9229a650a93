import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { StoredSessionService } from '../../../js/index.js';
import { event, KEY, openCache, Server, until } from './fixture.js';

async function copiesIn(local: StoredSessionService): Promise<string[]> {
  const { sessions } = await local.listSessions({ appName: JSON.stringify(['ada', 'shop']) });
  return sessions.map(({ id }) => id).sort();
}

/** An event of about so many bytes. */
function large(id: string, bytes: number) {
  return { ...event(id), content: { role: 'user', parts: [{ text: 'x'.repeat(bytes) }] } };
}

it('a copy that was used least recently goes first, never one with unsent changes', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const { cache, local } = openCache(server, { maxSessions: 2, clock: () => (now += 1000) });
  for (const sessionId of ['a', 'b', 'c']) await cache.createSession({ ...KEY, sessionId });
  await cache.sync();
  server.isOffline = true;
  const session = await cache.getSession({ ...KEY, sessionId: 'a' });
  await cache.appendEvent({ session: session!, event: event('e1') });
  await until(async () => (await copiesIn(local)).length === 2);
  assert.deepEqual(await copiesIn(local), ['a', 'c']);
  server.isOffline = false;
  assert.equal((await cache.getSession({ ...KEY, sessionId: 'b' }))?.id, 'b');
  await cache.close();
});

it('maxBytes deletes the copies that were used least recently, never one with unsent changes', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const clock = () => (now += 1000);
  const { cache, local } = openCache(server, { maxBytes: 2500, clock });
  for (const sessionId of ['a', 'b', 'c', 'd']) {
    const session = await cache.createSession({ ...KEY, sessionId });
    await cache.appendEvent({ session, event: large(`of ${sessionId}`, 400) });
  }
  await cache.sync();
  assert.deepEqual(await copiesIn(local), ['a', 'b', 'c', 'd']);
  server.isOffline = true;
  const session = await cache.getSession({ ...KEY, sessionId: 'a' });
  await cache.appendEvent({ session: session!, event: large('unsent', 1000) });
  await until(async () => (await copiesIn(local)).length === 2);
  assert.deepEqual(await copiesIn(local), ['a', 'd']);
  server.isOffline = false;
  await cache.sync();
  const { sessions } = await server.service.listSessions({ appName: 'shop' });
  assert.equal(sessions.length, 4);
  await cache.close();
});

it('the copy that was used last stays, however large it is', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const { cache, local } = openCache(server, { maxBytes: 1000, clock: () => (now += 1000) });
  for (const sessionId of ['small', 'large']) {
    const session = await cache.createSession({ ...KEY, sessionId });
    await cache.appendEvent({ session, event: large('e1', sessionId === 'large' ? 5000 : 10) });
  }
  await cache.sync();
  await cache.getSession({ ...KEY, sessionId: 'large' });
  await until(async () => (await copiesIn(local)).length === 1);
  assert.deepEqual(await copiesIn(local), ['large']);
  await cache.close();
});
