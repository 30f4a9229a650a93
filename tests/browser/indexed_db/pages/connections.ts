// Lost connections, and transactions without any event.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, isSessionError, type StateShape } from 'adk-session-wasm';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { keepAlive, openBare } from '../page/bare.js';
import { type Failure, failure, idsOf, keyOf, mark, persist } from '../page/events.js';
import { Feed } from '../page/feed.js';

/** What the tests call in the page. */
export const inPage = {
  connect,
  appendOne,
  resynced,
  closeBeneath,
  loseDeletion,
  waitInVain,
  abortWhileHeld,
  openInVain,
};
type Page = typeof inPage;

export function connections(context: Context, browserName: BrowserName): void {
  it('a closed connection is reopened by the next call, whose diagnostic counts the retry', async () => {
    await inTab<Page>(context, async (tab) => {
      const { seen, calls, counted } = await tab.call('closeBeneath', newName());
      const [written, read, grouped] = seen;
      assert.deepEqual(written, ['first', 'write']);
      assert.deepEqual(read, ['first', 'write']);
      assert.deepEqual(grouped, ['first', 'write', 'a', 'b', 'c']);
      assert.deepEqual(calls, [
        ['appendEvent', 1, 1],
        ['getSession', 1, null],
        ...Array<unknown>(3).fill(['appendEvent', 1, 3]),
        ['getSession', 0, null],
        ['listSessions', 1, null],
        // The group failed, and each of its appends was stored alone.
        ...Array<unknown>(2).fill(['appendEvent', 1, 1]),
        ['deleteSession', 1, null],
        ...Array<unknown>(2).fill(['updateState', 1, null]),
        ['getAppState', 0, null],
      ]);
      assert.equal(counted, 2);
    });
  });

  it('a deletion whose answer was lost is not repeated, and fails with connection_lost', async () => {
    await inTab<Page>(context, async (tab) => {
      const { failed, state } = await tab.call('loseDeletion', newName());
      assert.equal(failed.code, 'connection_lost');
      assert.deepEqual(state, { again: 1 });
    });
  });

  // The other browsers have no command for it.
  if (browserName === 'chromium') {
    it('a database that the browser cleared is created again by the next call', async () => {
      await inTab<Page>(context, async (tab) => {
        await tab.call('connect', newName());
        const { origin } = context.site;
        await context.browser.debug('Storage.clearDataForOrigin', {
          origin,
          storageTypes: 'indexeddb',
        });
        assert.deepEqual(await tab.call('appendOne', 'after'), ['after']);
        assert.ok(await tab.call('resynced'), 'the feed says that it may have missed something');
      });
    });
  }

  it('a transaction without any event times out, and stores nothing', async () => {
    await inTab<Page>(context, async (tab) => {
      const { failures, handle, stored, again } = await tab.call('waitInVain', newName());
      const codes = failures.map(({ code }) => code);
      assert.deepEqual(codes, ['connection_lost', 'connection_lost', 'connection_lost']);
      assert.deepEqual(handle, ['before']);
      assert.deepEqual(stored, ['before']);
      assert.deepEqual(again, ['before', 'late']);
    });
  });

  it('a write whose signal fires while it waits for the stores is aborted, and stores nothing', async () => {
    await inTab<Page>(context, async (tab) => {
      const { codes, haveReason, events, keys, retried } = await tab.call(
        'abortWhileHeld',
        newName(),
      );
      assert.deepEqual(codes, {
        append: 'aborted',
        'append to two': 'aborted',
        'append to three': 'aborted',
        create: 'aborted',
        update: 'aborted',
        delete: 'aborted',
      });
      assert.ok(haveReason);
      assert.deepEqual([events, keys], [[], []]);
      assert.deepEqual(retried, ['aborted']);
    });
  });

  it('an opening without any event times out, and succeeds at the next call', async () => {
    await inTab<Page>(context, async (tab) => {
      const { failed, after } = await tab.call('openInVain', newName());
      assert.ok(['connection_lost', 'storage_blocked'].includes(failed.code), failed.code);
      assert.deepEqual(after, ['after']);
    });
  });
}

let service: IndexedDbSessionService | undefined;
let feed: Feed | undefined;

/** A service in use. */
async function connect(name: string): Promise<void> {
  service = new IndexedDbSessionService({ name });
  feed = new Feed(service, { appName: keyOf('').appName });
  await appendOne('before');
}

/** Appends one event by a fresh handle, and reads all. */
async function appendOne(id: string): Promise<string[]> {
  if (service === undefined) throw new Error('connect comes first');
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark(id) });
  return idsOf(await service.getSession(keyOf('one')));
}

/** Waits until the feed reports `resync`. */
async function resynced(): Promise<boolean> {
  const isThere = (): boolean => feed?.changes.some(({ type }) => type === 'resync') === true;
  await feed?.until(isThere);
  return isThere();
}

interface CloseResult {
  /** The event ids after a write, after a read, and after appends that waited together. */
  seen: string[][];
  /** The method, the retries and the size of the group of each call since the first close. */
  calls: [method: string, retries: number, groupSize: number | null][];
  /** The state's number after two counts. */
  counted: unknown;
}

/** Closes the connections of the package under it before each call. */
async function closeBeneath(name: string): Promise<CloseResult> {
  const caught: IDBDatabase[] = [];
  const stop = around(IDBFactory.prototype, 'open', (_factory, values, proceed) => {
    const request = proceed(...values) as IDBOpenDBRequest;
    request.addEventListener('success', () => caught.push(request.result));
    return request;
  });
  const close = (): void => caught.splice(0).forEach((database) => database.close());
  const calls: CloseResult['calls'] = [];
  const service = new IndexedDbSessionService({
    name,
    onDiagnostic(diagnostic) {
      if (diagnostic.kind !== 'call') throw new Error(diagnostic.kind);
      calls.push([diagnostic.method, diagnostic.retries, diagnostic.groupSize ?? null]);
    },
  });
  const session = await service.createSession(keyOf('one'));
  const other = await service.createSession(keyOf('two'));
  const read = async () => idsOf(await service.getSession(keyOf('one')));
  const seen: string[][] = [];
  await service.appendEvent({ session, event: mark('first') });
  if (caught.length === 0) throw new Error('no connection of the package was caught');
  calls.length = 0;
  close();
  await service.appendEvent({ session, event: mark('write') });
  seen.push(idsOf(session));
  close();
  seen.push(await read());
  close();
  const appends = ['a', 'b', 'c'].map((id) => service.appendEvent({ session, event: mark(id) }));
  close();
  await Promise.all(appends);
  seen.push(await read());
  close();
  await service.listSessions(keyOf('one'));
  close();
  await Promise.all(
    [session, other].map((session) => service.appendEvent({ session, event: mark('d') })),
  );
  close();
  await service.deleteSession(keyOf('two'));
  const { appName } = keyOf('one');
  const count = (): Promise<unknown> =>
    service.updateState({
      appName,
      stateDelta: ({ 'app:n': n = 0 }) => ({ 'app:n': Number(n) + 1 }),
    });
  close();
  await count();
  close();
  await count();
  const counted: unknown = (await service.getAppState({ appName })).n;
  stop();
  await service.close();
  return { seen, calls, counted };
}

interface LostDeletion {
  failed: Failure;
  /** The state of the session that was created again. */
  state: StateShape | undefined;
}

/** Loses the answer of a deletion. Another service creates the session again before the call knows. */
async function loseDeletion(name: string): Promise<LostDeletion> {
  const service = new IndexedDbSessionService({ name });
  const other = new IndexedDbSessionService({ name });
  await service.createSession(keyOf('one'));
  const stop = around(IDBTransaction.prototype, 'commit', (transaction, values, proceed) => {
    stop();
    transaction.oncomplete = () => {
      const created = other.createSession({ ...keyOf('one'), state: { again: 1 } });
      void created.finally(() => transaction.dispatchEvent(new Event('abort')));
    };
    return proceed(...values);
  });
  const failed = await failure(() => service.deleteSession(keyOf('one')));
  const state = (await other.getSession(keyOf('one')))?.state;
  await service.close();
  await other.close();
  return { failed, state };
}

/** Many times the `timeoutMs` of these tests: only a promise that hangs is waited for so long. */
const PATIENCE = 30_000;

function settled<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('a promise did not settle')), PATIENCE);
    promise.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

interface SilenceResult {
  failures: Failure[];
  /** The handle's events after that. */
  handle: string[];
  /** The stored events after the stores are free again. */
  stored: string[];
  /** After the same event was appended again. */
  again: string[];
}

/** Another connection locks all stores with a long transaction. */
async function waitInVain(name: string): Promise<SilenceResult> {
  const service = new IndexedDbSessionService({ name, timeoutMs: 300 });
  // Without the lock, a busy machine may need more time too.
  const session = await persist(() => service.getOrCreateSession(keyOf('one')));
  await persist(() => service.appendEvent({ session, event: mark('before') }));
  const other = await openBare(name);
  const transaction = other.transaction([...other.objectStoreNames], 'readwrite');
  const release = keepAlive(transaction, 'meta');
  const event = mark('late');
  const failures = [
    await failure(() => settled(service.appendEvent({ session, event }))),
    await failure(() => settled(service.getSession(keyOf('one')))),
    await failure(() => settled(service.createSession(keyOf('two')))),
  ];
  await release();
  other.close();
  const handle = idsOf(session);
  const read = async () => idsOf(await persist(() => service.getSession(keyOf('one'))));
  const stored = await read();
  await persist(() => service.appendEvent({ session, event }));
  const again = await read();
  await service.close();
  return { failures, handle, stored, again };
}

interface AbortedResult {
  /** By write: the code that it failed with. */
  codes: Record<string, string>;
  /** Whether each error has the signal's reason as its cause. */
  haveReason: boolean;
  /** The events and keys that are stored after the writes failed. */
  events: string[];
  keys: string[];
  /** The events after the append was retried. */
  retried: string[];
}

/** The signals of writes fire while another connection holds all stores. */
async function abortWhileHeld(name: string): Promise<AbortedResult> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  const others = await Promise.all(['two', 'three'].map((id) => service.createSession(keyOf(id))));
  const other = await openBare(name);
  const transaction = other.transaction([...other.objectStoreNames], 'readwrite');
  const release = keepAlive(transaction, 'meta');
  const controller = new AbortController();
  const { signal } = controller;
  const event = mark('aborted');
  const writes: Record<string, Promise<unknown>> = {
    append: service.appendEvent({ session, event, signal }),
    // Two sessions share a transaction.
    ...Object.fromEntries(
      others.map((session) => [
        `append to ${session.id}`,
        service.appendEvent({ session, event: mark('grouped'), signal }),
      ]),
    ),
    create: service.createSession({ ...keyOf('new'), signal }),
    update: service.updateState({ ...keyOf('one'), stateDelta: { updated: 1 }, signal }),
    delete: service.deleteSession({ ...keyOf('one'), signal }),
  };
  const outcomes = Promise.allSettled(Object.values(writes));
  // All of them are on their way by then.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const reason = new Error('the user left');
  controller.abort(reason);
  await release();
  other.close();
  const codes: Record<string, string> = {};
  let haveReason = true;
  for (const [index, outcome] of (await outcomes).entries()) {
    const error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
    codes[Object.keys(writes)[index]!] = isSessionError(error) ? error.code : outcome.status;
    haveReason &&= isSessionError(error) && error.cause === reason;
  }
  const stored = await service.getSession(keyOf('one'));
  await service.appendEvent({ session, event });
  const retried = idsOf(await service.getSession(keyOf('one')));
  const isNew = (await service.getSession(keyOf('new'))) !== undefined;
  await service.close();
  const keys = [...Object.keys(stored?.state ?? {}), ...(isNew ? ['new session'] : [])];
  return { codes, haveReason, events: idsOf(stored), keys, retried };
}

interface Opening {
  failed: Failure;
  /** The result of the same service after the lock was released. */
  after: string[];
}

/** A connection holds the database, and its deletion waits for that. A new opening waits for both, without any event. */
async function openInVain(name: string): Promise<Opening> {
  const other = await openBare(name, 1, (database) => database.createObjectStore('anything'));
  const deletion = indexedDB.deleteDatabase(name);
  const deleted = new Promise((resolve) => (deletion.onsuccess = resolve));
  const service = new IndexedDbSessionService({ name, timeoutMs: 300 });
  const failed = await failure(() => settled(service.createSession(keyOf('one'))));
  other.close();
  await deleted;
  const session = await persist(() => service.getOrCreateSession(keyOf('one')));
  await persist(() => service.appendEvent({ session, event: mark('after') }));
  const after = idsOf(await persist(() => service.getSession(keyOf('one'))));
  await service.close();
  return { failed, after };
}
