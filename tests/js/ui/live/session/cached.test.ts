// A live session over a cache: it shows what the remote does not have yet, and what the remote refused.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  liveSession,
  liveSessions,
  type LiveSessionSnapshot,
} from '../../../../../js/ui/live/index.js';
import { event, openCache, Server, until } from '../../../stores/cache/fixture.js';
import { idsOf, KEY, message, snapshotOf } from '../stores.js';

/** Refuses appends whose body has this text. */
function refuse(server: Server, text: string): void {
  server.intercept = async (request) => {
    const isRefused = request.method !== 'GET' && (await request.text()).includes(text);
    return isRefused
      ? Response.json({ code: 'schema_violation', detail: 'Not in this shop.' }, { status: 422 })
      : undefined;
  };
}

it('A live session shows which events wait for the remote, until they are sent', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  await cache.sync();
  const store = liveSession(cache, KEY);
  const stop = store.subscribe(() => undefined);
  await snapshotOf(store, ({ status }) => status === 'ready');
  assert.deepEqual({ ...store.getSnapshot().unsent }, {});
  server.isOffline = true;
  await store.send(message('e1'));
  const session = await cache.getSession(KEY);
  assert.ok(session);
  await cache.appendEvent({ session, event: event('e2') });
  const waiting = await snapshotOf(store, ({ unsent }) => Object.keys(unsent).length === 2);
  assert.deepEqual(idsOf(waiting.events), ['e1', 'e2']);
  assert.deepEqual({ ...waiting.unsent }, { e1: {}, e2: {} });
  // Only what failed can be retried or discarded.
  assert.equal(await store.retry('e1'), undefined);
  await store.discard('e1');
  server.isOffline = false;
  await cache.sync();
  const sent = await snapshotOf(store, ({ unsent }) => Object.keys(unsent).length === 0);
  assert.deepEqual(idsOf(sent.events), ['e1', 'e2']);
  assert.equal(sent.events[0], waiting.events[0]);
  stop();
  await cache.close();
});

it('A live session shows what waits from an earlier visit', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache, local } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  await cache.close();
  const { cache: later } = openCache(server, { local });
  const store = liveSession(later, KEY);
  const { unsent } = await snapshotOf(store, ({ unsent }) => Object.hasOwn(unsent, 'e1'));
  assert.deepEqual({ ...unsent }, { e1: {} });
  await later.close();
});

it('A live session shows what the remote refused, and sends it again', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const store = liveSession(cache, KEY);
  const stop = store.subscribe(() => undefined);
  refuse(server, 'bad');
  await store.send({ ...message('e1'), customMetadata: { note: 'bad' } });
  await store.send(message('e2'));
  const { unsent } = await snapshotOf(store, ({ unsent }) => unsent.e1?.error !== undefined);
  const { code, message: text } = unsent.e1?.error as { code: string; message: string };
  assert.deepEqual([code, text], ['schema_violation', 'Not in this shop.']);
  await snapshotOf(store, ({ unsent }) => Object.keys(unsent).join() === 'e1');
  server.intercept = undefined;
  assert.equal((await store.retry('e1'))?.id, 'e1');
  await snapshotOf(store, ({ unsent }) => Object.keys(unsent).length === 0);
  assert.deepEqual(idsOf((await server.service.getSession(KEY))?.events ?? []), ['e2', 'e1']);
  await snapshotOf(store, ({ events }) => idsOf(events).join() === 'e2,e1');
  stop();
  await cache.close();
});

for (const ids of [
  ['e1', 'bad'],
  ['e1', 'bad', 'e3'],
  ['e1', 'bad', 'e3', 'e4'],
]) {
  it(`A live session of ${ids.join(', ')} discards what was refused, offline and in every tab`, async () => {
    const server = new Server();
    const { cache, local } = openCache(server);
    const { cache: other } = openCache(server, { local });
    const stores = [liveSession(cache, KEY), liveSession(other, KEY)] as const;
    const stops = stores.map((store) => store.subscribe(() => undefined));
    const inEvery = (condition: (snapshot: LiveSessionSnapshot) => boolean) =>
      Promise.all(stores.map((store) => snapshotOf(store, condition)));
    const shows =
      (expected: string[]) =>
      ({ events }: LiveSessionSnapshot): boolean =>
        idsOf(events).join() === expected.join();
    refuse(server, '"bad"');
    for (const id of ids) {
      await stores[0].send(message(id));
      if (id === 'e1') await cache.sync();
    }
    await inEvery(({ unsent }) => unsent.bad?.error !== undefined);
    // It comes behind what was sent.
    await inEvery(shows([...ids.filter((id) => id !== 'bad'), 'bad']));
    server.isOffline = true;
    await stores[0].discard('bad');
    const remaining = ids.filter((id) => id !== 'bad');
    await inEvery(shows(remaining));
    server.isOffline = false;
    await cache.sync();
    await inEvery(({ unsent }) => Object.keys(unsent).length === 0);
    await inEvery(shows(remaining));
    assert.deepEqual(idsOf((await server.service.getSession(KEY))?.events ?? []), remaining);
    for (const stop of stops) stop();
    await cache.close();
    await other.close();
  });
}

for (const isHeard of [true, false]) {
  const how = isHeard ? 'another device' : 'a program that tells nobody';
  for (const end of ['discard', 'drop'] as const) {
    it(`An open chat learns that its message was refused because ${how} has deleted the session, and its ${end} is shown`, async () => {
      const server = new Server();
      const { cache, local } = openCache(server);
      const { cache: other } = openCache(server, { local });
      const tabs = [cache, other].map((service) => ({
        chat: liveSession(service, KEY),
        list: liveSessions(service, { appName: KEY.appName, userId: KEY.userId }),
      }));
      const stops = tabs.flatMap(({ chat, list }) =>
        [chat, list].map((store) => store.subscribe(() => undefined)),
      );
      const [{ chat }] = tabs as [(typeof tabs)[0]];
      await chat.send(message('e1'));
      await cache.sync();
      server.isOffline = true;
      await chat.send(message('e2'));
      await server.service.deleteSession(KEY);
      if (!isHeard) server.cutFeeds();
      server.isOffline = false;
      await cache.sync().catch(() => undefined);
      for (const { chat, list } of tabs) {
        const { unsent, events } = await snapshotOf(chat, ({ unsent }) => !!unsent.e2?.error);
        assert.equal((unsent.e2?.error as { code: string }).code, 'not_found');
        assert.deepEqual(idsOf(events), ['e1', 'e2']);
        assert.equal(list.getSnapshot().sessions.length, 1);
      }
      await (end === 'discard' ? chat.discard('e2') : cache.outbox.drop(KEY));
      for (const { chat, list } of tabs) {
        const { unsent, events } = await snapshotOf(
          chat,
          ({ status, unsent }) => status === 'deleted' && Object.keys(unsent).length === 0,
        );
        assert.deepEqual([events, { ...unsent }], [[], {}]);
        await snapshotOf(list, ({ sessions }) => sessions.length === 0);
      }
      for (const stop of stops) stop();
      await cache.close();
      await other.close();
    });
  }
}

/** Shows a session that is missing, and then cuts the connection. */
async function openMissing() {
  const server = new Server();
  const { cache } = openCache(server);
  const store = liveSession(cache, KEY);
  const stop = store.subscribe(() => undefined);
  await snapshotOf(store, ({ status }) => status === 'missing');
  await until(() => server.feedRequests === 1);
  server.isOffline = true;
  server.cutFeeds();
  return { server, cache, store, stop };
}

it('A session that was read as missing is shown once another device has created it while the feed was down', async () => {
  const { server, cache, store, stop } = await openMissing();
  await server.service.createSession({ ...KEY, events: [event('theirs')] });
  server.isOffline = false;
  const { events } = await snapshotOf(store, ({ status }) => status === 'ready');
  assert.deepEqual(idsOf(events), ['theirs']);
  stop();
  await cache.close();
});

it('A cache that has nothing to send says that it is offline once its feed is cut', async () => {
  const { server, cache, stop } = await openMissing();
  await until(() => !cache.status.isOnline);
  server.isOffline = false;
  await until(() => cache.status.isOnline);
  stop();
  await cache.close();
});

it('The error of a refusal keeps all its members, in other tabs and after a reload', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  const { cache: other } = openCache(server, { local });
  server.intercept = async (request) => {
    const isRefused = request.method !== 'GET' && (await request.text()).includes('bad');
    const body = { code: 'schema_violation', detail: 'No such key.', key: 'colour', path: 'a.b' };
    return isRefused ? Response.json(body, { status: 422 }) : undefined;
  };
  const errorIn = async (service: typeof cache): Promise<unknown> => {
    const store = liveSession(service, KEY);
    const { unsent } = await snapshotOf(store, ({ unsent }) => unsent.bad?.error !== undefined);
    return JSON.parse(JSON.stringify(unsent.bad?.error));
  };
  const expected = {
    name: 'StateSchemaError',
    code: 'schema_violation',
    message: 'No such key.',
    path: 'a.b',
    key: 'colour',
    status: 422,
  };
  await liveSession(cache, KEY).send(message('bad'));
  assert.deepEqual(await errorIn(cache), expected);
  assert.deepEqual(await errorIn(other), expected);
  await cache.close();
  await other.close();
  const { cache: later } = openCache(server, { local });
  assert.deepEqual(await errorIn(later), expected);
  await later.close();
});

it('A live session over a cache edits a message offline, and the remote gets the rewind with it', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  const store = liveSession(cache, KEY);
  const stop = store.subscribe(() => undefined);
  for (const id of ['e1', 'e2']) await store.send({ ...message(id), invocationId: id });
  await cache.sync();
  server.isOffline = true;
  const { id } = await store.edit('e2', { role: 'user', parts: [{ text: 'edited' }] });
  assert.deepEqual(idsOf(store.getSnapshot().events), ['e1', id]);
  server.isOffline = false;
  await cache.sync();
  await snapshotOf(store, ({ unsent }) => Object.keys(unsent).length === 0);
  const config = { view: 'transcript' } as const;
  const stored = await server.service.getSession({ ...KEY, config });
  assert.deepEqual(idsOf(stored?.events ?? []), ['e1', id]);
  assert.deepEqual(idsOf(store.getSnapshot().events), ['e1', id]);
  stop();
  await cache.close();
});
