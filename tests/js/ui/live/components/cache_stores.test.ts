import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, type SessionService } from '../../../../../js/index.js';
import { sharedStatus, sharedUnsent } from '../../../../../js/ui/live/components/cache_stores.js';
import type { LiveStore } from '../../../../../js/ui/live/index.js';
import { event, openCache, Server, until } from '../../../stores/cache/fixture.js';
import { idsOf, KEY } from '../stores.js';

/** Refuses requests whose method and body match. */
function refuse(server: Server, method: string, text: string): void {
  server.intercept = async (request) => {
    const isRefused = request.method === method && (await request.text()).includes(text);
    return isRefused
      ? Response.json({ code: 'schema_violation', detail: 'Not in this shop.' }, { status: 422 })
      : undefined;
  };
}

function follow<Snapshot>(store: Pick<LiveStore<Snapshot>, 'subscribe' | 'getSnapshot'>) {
  const snapshots: Snapshot[] = [];
  const stop = store.subscribe((snapshot) => snapshots.push(snapshot));
  return { snapshots, stop, now: store.getSnapshot };
}

describe('The store of what a cache has not sent', () => {
  it('lists what waits, whatever it is, until it is sent', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const { now, stop } = follow(sharedUnsent(cache));
    const session = await cache.createSession(KEY);
    await cache.sync();
    server.isOffline = true;
    await cache.appendEvent({ session, event: event('e1') });
    await cache.updateState({ ...KEY, sessionId: undefined, stateDelta: { 'user:name': 'Ada' } });
    await until(() => now().length === 2);
    assert.deepEqual(new Set(now().map(({ key }) => key.sessionId)), new Set(['s1', undefined]));
    assert.ok(now().every(({ error }) => error === undefined));
    const ofSession = now().find(({ key }) => key.sessionId === 's1');
    assert.ok(idsOf(ofSession?.events ?? []).includes('e1'));
    server.isOffline = false;
    await cache.sync();
    await until(() => now().length === 0);
    stop();
    await cache.close();
  });

  it('shows a refused title, and retries and discards it', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const { now, stop, snapshots } = follow(sharedUnsent(cache));
    await cache.createSession(KEY);
    await cache.sync();
    refuse(server, 'PATCH', 'Bad');
    const refusal = async () => {
      await until(() => now()[0]?.error !== undefined);
      return now()[0]!;
    };
    await cache.updateSession(KEY, { title: 'Bad' });
    const { error, events, retry } = await refusal();
    assert.deepEqual(
      [error?.code, error?.message, events],
      [...['schema_violation', 'Not in this shop.'], []],
    );
    server.intercept = undefined;
    await retry();
    await until(() => now().length === 0);
    assert.equal((await server.service.getSession(KEY))?.title, 'Bad');
    refuse(server, 'PATCH', 'Worse');
    await cache.updateSession(KEY, { title: 'Worse' });
    await (await refusal()).discard();
    await until(() => now().length === 0);
    assert.equal((await cache.getSession(KEY))?.title, 'Bad');
    assert.equal(snapshots.at(-1), now());
    stop();
    await cache.close();
  });

  it('discards a refused title, and keeps the messages that wait', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const { now, stop } = follow(sharedUnsent(cache));
    const session = await cache.createSession(KEY);
    await cache.sync();
    refuse(server, 'PATCH', 'Bad');
    await cache.updateSession(KEY, { title: 'Bad' });
    await cache.sync();
    server.isOffline = true;
    await cache.appendEvent({ session, event: event('e1') });
    await until(() => now().length === 2);
    await now()
      .find(({ error }) => error !== undefined)
      ?.discard();
    await until(() => now().length === 1);
    assert.deepEqual(idsOf(now()[0]?.events ?? []), ['e1']);
    stop();
    await cache.close();
  });

  it('discards a refused event, and keeps the others', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const { now, stop } = follow(sharedUnsent(cache));
    const session = await cache.createSession(KEY);
    await cache.sync();
    refuse(server, 'POST', '"bad"');
    for (const id of ['bad', 'e2']) await cache.appendEvent({ session, event: event(id) });
    await cache.sync();
    server.isOffline = true;
    await cache.appendEvent({ session, event: event('e3') });
    await until(() => now().length === 2);
    const shown = now().map(({ events, error }) => [idsOf(events), error?.code]);
    assert.deepEqual(shown, [
      [['bad'], 'schema_violation'],
      [['e3'], undefined],
    ]);
    await now()[0]?.discard();
    await until(() => now().length === 1);
    server.isOffline = false;
    await until(() => now().length === 0);
    const { events = [] } = (await server.service.getSession(KEY)) ?? {};
    assert.deepEqual(idsOf(events), ['e2', 'e3']);
    stop();
    await cache.close();
  });
});

describe("The store of a cache's status", () => {
  it('says what the cache says, also of a promised one', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const store = sharedStatus(Promise.resolve(cache));
    assert.equal(store.getSnapshot().isOnline, true);
    const { now, stop, snapshots } = follow(store);
    server.isOffline = true;
    await cache.createSession(KEY);
    await until(() => !now().isOnline);
    assert.equal(now(), cache.status);
    assert.equal(now().pending.length, 1);
    stop();
    const { length } = snapshots;
    server.isOffline = false;
    await cache.sync();
    assert.equal(snapshots.length, length);
    await cache.close();
  });

  it('is one for all components of a service', () => {
    const service = new InMemorySessionService();
    assert.equal(sharedStatus(service), sharedStatus(service));
    assert.equal(sharedUnsent(service), sharedUnsent(service));
  });

  it('is online over a service without a cache, and over one that cannot be opened', async () => {
    const failing = (): Promise<SessionService> => Promise.reject(new Error('blocked'));
    for (const open of [() => new InMemorySessionService(), failing]) {
      const service = open();
      const status = follow(sharedStatus(service));
      const unsent = follow(sharedUnsent(service));
      await new Promise(setImmediate);
      assert.deepEqual([status.now().isOnline, unsent.now()], [true, []]);
      status.stop();
      unsent.stop();
    }
  });
});
