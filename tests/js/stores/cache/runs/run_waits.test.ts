// What a cache sends while an agent runs in a session of the server.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent } from '../../../../../js/index.js';
import {
  idsOf,
  KEY,
  openCache,
  refuseRewinds,
  Server,
  until,
  untilSent,
  USER,
} from '../fixture.js';
import { rewind } from '../../../../../js/core/history/index.js';

const OTHER = { ...KEY, sessionId: 's2' };

const message = (id: string, stateDelta: Record<string, unknown> = {}) =>
  createEvent({ id, invocationId: id, author: 'user', actions: { stateDelta } });

/** Opens a cache with a rewind that waits, and a message behind it. */
async function openWaiting(stateDelta: Record<string, unknown> = {}) {
  const agent = { isRunning: true };
  const server = new Server();
  refuseRewinds(server, (sessionId) => agent.isRunning && sessionId === KEY.sessionId);
  const theirs = await server.service.createSession(KEY);
  await server.service.appendEvents({ session: theirs, events: [message('i1'), message('i2')] });
  const { cache } = openCache(server);
  const session = (await cache.getSession(KEY))!;
  await rewind(cache, { ...KEY, before: { invocationId: 'i2' } });
  await cache.appendEvent({ session, event: message('i3', stateDelta) });
  const refusals = () => server.requests.filter((one) => one.endsWith('/rewind')).length;
  await until(() => refusals() > 0);
  return { agent, server, cache, session, refusals };
}

describe('A rewind that waits for the end of a run', () => {
  it('lets sync wait, and is no failure', async () => {
    const { agent, server, cache } = await openWaiting();
    let isDone = false;
    const syncing = cache.sync().then(() => (isDone = true));
    await until(() => server.requests.filter((one) => one.endsWith('/rewind')).length > 1);
    assert.deepEqual(
      [isDone, cache.status.lastError, cache.status.isOnline],
      [false, undefined, true],
    );
    agent.isRunning = false;
    await syncing;
    assert.ok(untilSent(cache));
    assert.equal(idsOf(await server.service.getSession(KEY))?.at(-1), 'i3');
    assert.equal(cache.status.lastError, undefined);
    await cache.close();
  });

  it('holds up no other session, also if both write one key of the user', async () => {
    const { agent, server, cache } = await openWaiting({ 'user:name': 'Ada' });
    const other = await cache.createSession(OTHER);
    await cache.appendEvent({ session: other, event: message('o1', { 'user:name': 'Bob' }) });
    await until(async () => idsOf(await server.service.getSession(OTHER))?.length === 1);
    agent.isRunning = false;
    await cache.sync();
    assert.deepEqual(await server.service.getUserState(USER), { name: 'Bob' });
    assert.deepEqual(await cache.getUserState(USER), { name: 'Bob' });
    await cache.close();
  });

  it('does not hold up the deletion of its session', async () => {
    const { server, cache } = await openWaiting();
    await cache.deleteSession(KEY);
    await until(async () => (await server.service.getSession(KEY)) === undefined);
    await cache.sync();
    await cache.close();
  });

  it('is sent again by the leading tab alone, ever more seldom', async () => {
    const { cache, refusals } = await openWaiting();
    for (let count = 0; count < 20; count += 1)
      await cache.updateState({ ...USER, stateDelta: { 'user:count': count } });
    assert.ok(refusals() <= 2, `${refusals()} requests`);
    await cache.close();
  });
});
