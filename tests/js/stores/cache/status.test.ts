import assert from 'node:assert/strict';
import { it } from 'node:test';

import { MemoryLocalStore } from '../../../../js/service/cache/index.js';
import type { CacheStatus } from '../../../../js/service/cache/index.js';
import { event, KEY, openCache, Server, until, untilSent, USER } from './fixture.js';

it('all tabs show the same status, also one that opens later', async () => {
  const server = new Server();
  const local = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  const told: CacheStatus[] = [];
  second.watchStatus((status) => told.push(status));

  const session = await first.createSession(KEY);
  await first.sync();
  await until(() => untilSent(second) && second.status.lastSuccess !== undefined);
  assert.deepEqual(second.status, first.status);
  assert.ok(told.some(({ isSending }) => isSending));

  server.isOffline = true;
  await first.appendEvent({ session, event: event('e1') });
  await until(() => !second.status.isOnline && second.status.pending.length === 1);
  await until(() => !first.status.isSending && !second.status.isSending);
  assert.equal(second.status.lastError?.code, 'connection_lost');
  assert.deepEqual(second.status, first.status);

  const { cache: later } = openCache(server, { local });
  await until(() => !later.status.isOnline && later.status.pending.length === 1);
  assert.deepEqual(later.status, first.status);

  server.isOffline = false;
  await later.sync();
  for (const cache of [first, second, later]) await until(() => untilSent(cache));
  await until(() => first.status.lastSuccess === later.status.lastSuccess);
  assert.deepEqual(first.status, later.status);
  assert.equal(first.status.isOnline, true);
  assert.equal(first.status.lastError, undefined);
  await first.close();
  await second.close();
  await later.close();
});

it('another owner has a status of its own', async () => {
  const server = new Server();
  const local = new MemoryLocalStore();
  const { cache: ada } = openCache(server, { local });
  const { cache: eva } = openCache(server, { local, owner: 'eva' });
  await ada.createSession(KEY);
  await ada.sync();
  await until(() => ada.status.lastSuccess !== undefined);
  await eva.listSessions({ ...USER });
  server.isOffline = true;
  await assert.rejects(ada.sync());
  assert.equal(ada.status.isOnline, false);
  assert.equal(eva.status.isOnline, true);
  await Promise.all([ada.close(), eva.close()]);
});

it('reading the outbox does not change the status', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.isOffline = true;
  await cache.createSession(KEY);
  await until(() => cache.status.pending.length === 1 && !cache.status.isSending);
  const { pending } = cache.status;
  assert.equal((await cache.outbox.list()).length, 1);
  assert.equal((await cache.outbox.list(KEY)).length, 1);
  assert.equal(cache.status.pending, pending);
  await cache.close();
});

it('pauses as long as the server asks for by Retry-After, but at most an hour', async (t) => {
  for (const [seconds, pause] of [
    ['40', 40_000],
    ['3600', 3_600_000],
    ['3601', 3_600_000],
    ['9999999999', 3_600_000],
  ] as const) {
    const server = new Server();
    const headers = { 'retry-after': seconds };
    const refuse = () => Promise.resolve(new Response(null, { status: 503, headers }));
    server.intercept = ({ method }) => (method === 'GET' ? Promise.resolve(undefined) : refuse());
    const timers = t.mock.method(globalThis, 'setTimeout');
    const { cache } = openCache(server);
    await cache.createSession(KEY);
    await until(() => cache.status.lastError !== undefined && !cache.status.isSending);
    await until(() => timers.mock.calls.some(({ arguments: [, delay] }) => delay === pause));
    await cache.close();
    t.mock.restoreAll();
  }
});
