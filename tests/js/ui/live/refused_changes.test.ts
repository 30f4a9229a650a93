// What the remote of a cache refuses besides events: a title, labels, a deletion, a creation.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { liveSession, liveSessions } from '../../../../js/ui/live/index.js';
import type {
  CachedSessionService,
  LocalTransaction,
  MemoryLocalStore,
} from '../../../../js/service/cache/index.js';
import { openCache, Server, until } from '../../stores/cache/fixture.js';
import { Gate, HeldStore } from '../../stores/cache/held_store.js';
import { idsOf, KEY, message, snapshotOf } from './stores.js';

const { appName, userId } = KEY;

/** A server that has a session, and refuses requests with these methods. */
async function openRefused(...methods: string[]) {
  const server = new Server();
  await server.service.createSession({ ...KEY, title: 'Tea', labels: { pinned: 'no' } });
  const { cache, local } = openCache(server);
  await cache.getSession(KEY);
  const refuse = (refused: readonly string[]): void => {
    server.intercept = ({ method, url }) =>
      Promise.resolve(
        refused.includes(method) && !url.includes('/events')
          ? Response.json({ code: 'schema_violation', detail: 'Not here.' }, { status: 422 })
          : undefined,
      );
  };
  refuse(methods);
  return { server, cache, local, refuse };
}

/** A storage that does not list what waits of all users until its gate is opened. */
class ScanHeldStore extends HeldStore {
  readonly gate = new Gate();
  isOpen = false;

  override async transaction<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: LocalTransaction) => Promise<T>,
  ): Promise<T> {
    try {
      return await super.transaction(mode, (transaction) =>
        work({
          ...transaction,
          list: async (store, range) => {
            const isScan = store === 'outbox' && range.from[1] === '\0';
            if (isScan && !this.isOpen) throw this.gate;
            return transaction.list(store, range);
          },
        }),
      );
    } catch (error) {
      if (error !== this.gate) throw error;
      await this.gate.pass();
      return super.transaction(mode, work);
    }
  }
}

const kindsOf = (refused: readonly { kind: string }[] = []): string =>
  refused.map(({ kind }) => kind).join();

async function changesOf(cache: CachedSessionService) {
  const entries = await cache.outbox.list(KEY);
  return entries.flatMap(({ changes }) => changes);
}

describe('A change that the remote refuses', () => {
  it('is named with its values by the list of the outbox', async () => {
    const { server, cache } = await openRefused();
    server.isOffline = true;
    const session = (await cache.getSession(KEY))!;
    await cache.appendEvent({ session, event: message('e1') });
    await cache.updateSession(KEY, { title: 'Coffee', labels: { pinned: 'yes' } });
    await cache.updateSession(KEY, { title: null });
    await cache.createSession({ appName, userId, sessionId: 's2', state: { a: 1 }, title: 'New' });
    const [append, ...others] = await changesOf(cache);
    assert.deepEqual(append?.kind === 'append' && append.event.id, 'e1');
    assert.deepEqual(others, [
      { kind: 'title', title: 'Coffee', isRefused: false },
      { kind: 'labels', labels: { pinned: 'yes' }, isRefused: false },
      { kind: 'title', title: null, isRefused: false },
    ]);
    const [created] = await cache.outbox.list({ ...KEY, sessionId: 's2' });
    assert.deepEqual(created?.changes, [
      { kind: 'create', state: { a: 1 }, title: 'New', events: [], isRefused: false },
    ]);
    await cache.deleteSession({ ...KEY });
    // The event may have been sent without an answer.
    assert.equal((await changesOf(cache)).at(-1)?.kind, 'delete');
  });

  it('is not shown as done if it is a title or labels, and has its error', async () => {
    const { cache } = await openRefused('PATCH');
    const [chat, list] = [liveSession(cache, KEY), liveSessions(cache, { appName, userId })];
    const stops = [chat, list].map((store) => store.subscribe(() => undefined));
    await cache.updateSession(KEY, { title: 'Coffee', labels: { pinned: 'yes' } });
    const shown = await snapshotOf(chat, ({ refused }) => refused.length > 0);
    assert.equal(kindsOf(shown.refused), 'title,labels');
    assert.equal(shown.refused[0]?.error.code, 'schema_violation');
    assert.deepEqual([shown.title, shown.labels], ['Tea', { pinned: 'no' }]);
    const { sessions } = await snapshotOf(list, ({ sessions }) => !!sessions[0]?.refused);
    assert.deepEqual([sessions[0]?.title, kindsOf(sessions[0]?.refused)], ['Tea', 'title,labels']);
    const [entry] = await cache.outbox.list(KEY);
    await cache.outbox.drop(entry!);
    await snapshotOf(chat, ({ refused }) => refused.length === 0);
    await snapshotOf(list, ({ sessions }) => sessions[0] !== undefined && !sessions[0].refused);
    for (const stop of stops) stop();
  });

  it('leaves the session there if it is its deletion, and blocks later messages', async () => {
    const { server, cache } = await openRefused('DELETE');
    const handle = (await cache.getSession(KEY))!;
    const [chat, list] = [liveSession(cache, KEY), liveSessions(cache, { appName, userId })];
    const stops = [chat, list].map((store) => store.subscribe(() => undefined));
    await snapshotOf(chat, ({ status }) => status === 'ready');
    await chat.remove();
    const { refused } = await snapshotOf(
      chat,
      ({ status, refused }) => status === 'ready' && refused.length > 0,
    );
    assert.equal(kindsOf(refused), 'delete');
    const { sessions } = await snapshotOf(list, ({ sessions }) => !!sessions[0]?.refused);
    assert.equal(kindsOf(sessions[0]?.refused), 'delete');
    await chat.send(message('e1'));
    await cache.appendEvent({ session: handle, event: message('e2') });
    const { unsent } = await snapshotOf(chat, ({ unsent }) => !!unsent.e2?.blockedBy);
    assert.equal(unsent.e1?.blockedBy?.code, 'schema_violation');
    const entry = (await cache.outbox.list(KEY)).find(({ error }) => error !== undefined);
    await cache.outbox.drop(entry!);
    await snapshotOf(
      chat,
      ({ unsent, refused }) => Object.keys(unsent).length + refused.length === 0,
    );
    const stored = await server.service.getSession(KEY);
    assert.deepEqual(idsOf(stored?.events ?? []), ['e1', 'e2']);
    for (const stop of stops) stop();
  });

  it('is done by a retry if it is a deletion that the remote allows later', async () => {
    const { server, cache, refuse } = await openRefused('DELETE');
    const chat = liveSession(cache, KEY);
    const stop = chat.subscribe(() => undefined);
    await chat.remove();
    await snapshotOf(chat, ({ refused }) => refused.length > 0);
    refuse([]);
    await cache.outbox.retry(KEY);
    await snapshotOf(chat, ({ status, refused }) => status === 'deleted' && refused.length === 0);
    await cache.sync();
    assert.equal(await server.service.getSession(KEY), undefined);
    stop();
  });

  it('is in a list without a read of what is unsent', async () => {
    const { cache } = await openRefused('PATCH');
    await cache.updateSession(KEY, { title: 'Coffee' });
    await cache.createSession({ appName, userId, sessionId: 's2' });
    await cache.updateSession({ appName, userId, sessionId: 's2' }, { labels: { pinned: 'yes' } });
    await cache.sync();
    cache.outbox.list = () => assert.fail('It reads the texts of all events that wait.');
    const list = liveSessions(cache, { appName, userId });
    await list.load();
    const refused = list.getSnapshot().sessions.map((each) => [each.id, kindsOf(each.refused)]);
    assert.deepEqual(Object.fromEntries(refused), { s1: 'title', s2: 'labels' });
    const others = liveSessions(cache, { appName, userId: 'bob' });
    await others.load();
    assert.deepEqual(others.getSnapshot().sessions, []);
  });

  it('is in a list that was read before the cache has found what waits, after a reload', async () => {
    const { server, cache, local } = await openRefused('PATCH');
    await cache.updateSession(KEY, { title: 'Coffee' });
    await cache.sync();
    await cache.close();
    server.isOffline = true;
    const held = new ScanHeldStore(local as MemoryLocalStore);
    const { cache: later } = openCache(server, { local: held });
    await until(() => held.gate.isReached);
    const list = liveSessions(later, { appName, userId });
    const stop = list.subscribe(() => undefined);
    const { sessions } = await snapshotOf(list, ({ status }) => status === 'ready');
    assert.deepEqual([sessions[0]?.id, sessions[0]?.refused], ['s1', undefined]);
    held.isOpen = true;
    held.gate.open();
    const shown = await snapshotOf(list, ({ sessions }) => !!sessions[0]?.refused);
    assert.equal(kindsOf(shown.sessions[0]?.refused), 'title');
    stop();
  });

  it('is hidden at once by a retry without a connection if it is a deletion', async () => {
    const { server, cache } = await openRefused('DELETE');
    const list = liveSessions(cache, { appName, userId });
    const stop = list.subscribe(() => undefined);
    await snapshotOf(list, ({ sessions }) => sessions.length === 1);
    for (const remove of [() => cache.deleteSession(KEY), () => cache.deleteUser(KEY)]) {
      await remove();
      await cache.sync();
      await snapshotOf(list, ({ sessions }) => sessions.length === 1);
      server.isOffline = true;
      const [entry] = await cache.outbox.list();
      assert.equal(entry?.error?.code, 'schema_violation');
      await cache.outbox.retry(entry);
      await snapshotOf(list, ({ sessions }) => sessions.length === 0);
      await cache.outbox.drop((await cache.outbox.list())[0]!);
      await snapshotOf(list, ({ sessions }) => sessions.length === 1);
      server.isOffline = false;
    }
    stop();
  });

  it('leaves no copy if another device has deleted the session meanwhile', async () => {
    const { server, cache } = await openRefused('DELETE');
    const chat = liveSession(cache, KEY);
    const stop = chat.subscribe(() => undefined);
    await chat.remove();
    await snapshotOf(chat, ({ refused }) => refused.length > 0);
    await server.service.deleteSession(KEY);
    await cache.sync();
    await snapshotOf(chat, ({ status, refused }) => status === 'deleted' && refused.length === 0);
    assert.deepEqual(await cache.outbox.list(), []);
    stop();
  });

  it('stays local if it is a creation', async () => {
    const { cache } = await openRefused('POST');
    const list = liveSessions(cache, { appName, userId });
    const stop = list.subscribe(() => undefined);
    await cache.createSession({ appName, userId, sessionId: 's2', title: 'New' });
    const isRefused = ({ id, refused }: { id: string; refused?: readonly { kind: string }[] }) =>
      id === 's2' && kindsOf(refused) === 'create';
    const { sessions } = await snapshotOf(list, ({ sessions }) => sessions.some(isRefused));
    assert.equal(sessions.find(isRefused)?.title, 'New');
    stop();
  });
});
