// Lost connections, and transactions without any event.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { around } from './around.js';
import { keepAlive, openBare } from './bare.js';
import { type Failure, failure, idsOf, keyOf, mark } from './events.js';
import { Feed } from './feed.js';

let service: IndexedDbSessionService | undefined;
let feed: Feed | undefined;

/** A service in use. */
export async function connect(name: string): Promise<void> {
  service = new IndexedDbSessionService({ name });
  feed = new Feed(service, { appName: keyOf('').appName });
  await appendOne('before');
}

/** Appends one event by a fresh handle, and reads all. */
export async function appendOne(id: string): Promise<string[]> {
  if (service === undefined) throw new Error('connect comes first');
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark(id) });
  return idsOf(await service.getSession(keyOf('one')));
}

/** Waits until the feed reports `resync`. */
export async function resynced(): Promise<boolean> {
  const isThere = (): boolean => feed?.changes.some(({ type }) => type === 'resync') === true;
  await feed?.until(isThere);
  return isThere();
}

/** Closes the connections of the package under it, and does what follows; by the event ids after each step. */
export async function closeBeneath(name: string): Promise<string[][]> {
  const caught: IDBDatabase[] = [];
  const stop = around(IDBFactory.prototype, 'open', (_factory, values, proceed) => {
    const request = proceed(...values) as IDBOpenDBRequest;
    request.addEventListener('success', () => caught.push(request.result));
    return request;
  });
  const close = (): void => caught.splice(0).forEach((database) => database.close());
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  const read = async () => idsOf(await service.getSession(keyOf('one')));
  const seen: string[][] = [];
  await service.appendEvent({ session, event: mark('first') });
  if (caught.length === 0) throw new Error('no connection of the package was caught');
  close();
  await service.appendEvent({ session, event: mark('write') });
  seen.push(idsOf(session));
  close();
  seen.push(await read());
  close();
  const group = ['a', 'b', 'c'].map((id) => service.appendEvent({ session, event: mark(id) }));
  close();
  await Promise.all(group);
  seen.push(await read());
  stop();
  await service.close();
  return seen;
}

/** Many times the `timeoutMs` of these tests: only a promise that hangs is waited for so long. */
const PATIENCE = 30_000;

function settled<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('a promise did not settle')), PATIENCE);
    promise.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

export interface SilenceResult {
  failures: Failure[];
  /** The handle's events after that. */
  handle: string[];
  /** The stored events after the stores are free again. */
  stored: string[];
  /** After the same event was appended again. */
  again: string[];
}

/** Another connection locks all stores with a long transaction. */
export async function waitInVain(name: string): Promise<SilenceResult> {
  const service = new IndexedDbSessionService({ name, timeoutMs: 300 });
  const session = await service.createSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
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
  const read = async () => idsOf(await service.getSession(keyOf('one')));
  const stored = await read();
  await service.appendEvent({ session, event });
  const again = await read();
  await service.close();
  return { failures, handle, stored, again };
}

export interface Opening {
  failed: Failure;
  /** The result of the same service after the lock was released. */
  after: string[];
}

/** A connection holds the database, and its deletion waits for that. A new opening waits for both, without any event. */
export async function openInVain(name: string): Promise<Opening> {
  const other = await openBare(name, 1, (database) => database.createObjectStore('anything'));
  const deletion = indexedDB.deleteDatabase(name);
  const deleted = new Promise((resolve) => (deletion.onsuccess = resolve));
  const service = new IndexedDbSessionService({ name, timeoutMs: 300, blockedTimeoutMs: 300 });
  const failed = await failure(() => settled(service.createSession(keyOf('one'))));
  other.close();
  await deleted;
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('after') });
  const after = idsOf(await service.getSession(keyOf('one')));
  await service.close();
  return { failed, after };
}
