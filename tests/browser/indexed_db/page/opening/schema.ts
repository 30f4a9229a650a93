// Databases of other versions, and tabs that want the database for themselves.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { answer, completion, type Dump, dump, openBare, type Row, withDatabase } from '../bare.js';
import { type Failure, failure, idsOf, keyOf, mark } from '../events.js';

export interface OtherVersionResult {
  failures: Failure[];
  version: number;
  before: Dump;
  after: Dump;
  /** The sessions that were created after `deleteDatabase`. */
  created: string[];
}

async function makeBare(name: string, version: number): Promise<IDBDatabase> {
  const database = await openBare(name, version, (made) => {
    made.createObjectStore('sessions', { keyPath: 'id' });
    made.createObjectStore('others', { autoIncrement: true });
  });
  const transaction = database.transaction(['sessions', 'others'], 'readwrite');
  transaction.objectStore('sessions').put({ id: 'one', told: 'by another version' });
  transaction.objectStore('others').put('kept');
  await completion(transaction);
  return database;
}

/** Opens a database of a version that this package does not have, and then deletes it. */
export async function openOtherVersion(name: string, made: number): Promise<OtherVersionResult> {
  (await makeBare(name, made)).close();
  const before = await dump(name);
  const service = new IndexedDbSessionService({ name });
  const failures = [
    await failure(() => service.createSession(keyOf('one'))),
    await failure(() => service.getSession(keyOf('one'))),
  ];
  const version = await withDatabase(name, async (opened) => opened.version);
  const after = await dump(name);
  await IndexedDbSessionService.deleteDatabase(name);
  const { id } = await service.createSession(keyOf('one'));
  await service.close();
  return { failures, version, before, after, created: [id] };
}

/** The stores of a database: their keys, and by name each index with its key. */
export type Layout = Record<string, { key: unknown; indexes: Row }>;

/** The layout of a new database. */
export async function layoutOfNew(name: string): Promise<{ version: number; stores: Layout }> {
  const service = new IndexedDbSessionService({ name });
  await service.open();
  await service.close();
  return withDatabase(name, async (database) => {
    const stores: Layout = {};
    const transaction = database.transaction(database.objectStoreNames);
    for (const name of database.objectStoreNames) {
      const store = transaction.objectStore(name);
      const indexes = [...store.indexNames].map((name): [string, unknown] => {
        const { keyPath, unique, multiEntry } = store.index(name);
        return [name, { keyPath, unique, multiEntry }];
      });
      stores[name] = { key: store.keyPath, indexes: Object.fromEntries(indexes) };
    }
    await completion(transaction);
    return { version: database.version, stores };
  });
}

let held: IDBDatabase | undefined;

/** Holds a database of an older version open, as a tab does that knows no manners. */
export async function holdOlder(name: string): Promise<void> {
  held = await makeBare(name, 1);
}

export function letGo(): void {
  held?.close();
}

export async function openHeld(name: string): Promise<Failure> {
  const service = new IndexedDbSessionService({ name, timeoutMs: 1_000 });
  const failed = await failure(() => service.getSession(keyOf('one')));
  await service.close();
  return failed;
}

let open: IndexedDbSessionService | undefined;

/** Leaves a service open, as a tab does that is in use. */
export async function stayOpen(name: string): Promise<void> {
  open = new IndexedDbSessionService({ name });
  const session = await open.createSession(keyOf('one'));
  await open.appendEvent({ session, event: mark('before') });
}

/** Deletes the database from another tab: whether anything was in its way. */
export async function deleteBare(name: string): Promise<{ wasBlocked: boolean }> {
  const request = indexedDB.deleteDatabase(name);
  let wasBlocked = false;
  request.onblocked = () => (wasBlocked = true);
  await answer(request);
  return { wasBlocked };
}

export async function deleteByPackage(name: string): Promise<void> {
  await IndexedDbSessionService.deleteDatabase(name);
}

/** The outcome of a call of the open service after the deletion of its database. */
export async function goOn(): Promise<{ gone: boolean; events: string[] }> {
  if (open === undefined) throw new Error('stayOpen comes first');
  const gone = (await open.getSession(keyOf('one'))) === undefined;
  const session = await open.createSession(keyOf('one'));
  await open.appendEvent({ session, event: mark('after') });
  return { gone, events: idsOf(await open.getSession(keyOf('one'))) };
}
