// Databases of other versions, and tabs that want the database for themselves.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { around } from '../around.js';
import { answer, completion, type Dump, dump, openBare, withDatabase } from '../bare.js';
import { type Failure, failure, idsOf, keyOf, mark, persist } from '../events.js';

const NEWER = 1000;

export interface NewerResult {
  failures: Failure[];
  version: number;
  before: Dump;
  after: Dump;
}

/** A database of a version that this package does not know yet. */
export async function openNewer(name: string): Promise<NewerResult> {
  const database = await openBare(name, NEWER, (upgraded) => {
    upgraded.createObjectStore('sessions', { keyPath: 'id' });
    upgraded.createObjectStore('future', { autoIncrement: true });
  });
  const transaction = database.transaction(['sessions', 'future'], 'readwrite');
  transaction.objectStore('sessions').put({ id: 'one', told: 'by a newer version' });
  transaction.objectStore('future').put('kept');
  await completion(transaction);
  database.close();
  const before = await dump(name);
  const service = new IndexedDbSessionService({ name });
  const failures = [
    await failure(() => service.createSession(keyOf('one'))),
    await failure(() => service.getSession(keyOf('one'))),
  ];
  await service.close();
  const version = await withDatabase(name, async (opened) => opened.version);
  return { failures, version, before, after: await dump(name) };
}

let held: IDBDatabase | undefined;

/** Makes a database of the package's version and holds it, as a tab does that knows no manners; its version. */
export async function holdOpen(name: string): Promise<number> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
  await service.close();
  held = await openBare(name);
  return held.version;
}

export function letGo(): void {
  held?.close();
}

let upgrading: IndexedDbSessionService | undefined;

/** Opens the database like the next version of the package, with a higher version number. */
export async function upgradeBlocked(name: string): Promise<Failure> {
  around(IDBFactory.prototype, 'open', (_factory, [name, version], proceed) =>
    typeof version === 'number' ? proceed(name, version + 1) : proceed(name),
  );
  upgrading = new IndexedDbSessionService({ name, timeoutMs: 1_000 });
  return failure(() => upgrading?.getSession(keyOf('one')));
}

/** The data that the same service reads after the other tab has closed its connection, and the database's version then. */
export async function readUpgraded(name: string): Promise<{ events: string[]; version: number }> {
  const service = upgrading;
  if (service === undefined) throw new Error('upgradeBlocked comes first');
  // The upgrade continues, and a busy machine may need more than the blocked timeout for it.
  const read = () => service.getSession(keyOf('one'));
  const events = idsOf(await persist(read, 'storage_blocked'));
  const version = await withDatabase(name, async (opened) => opened.version);
  return { events, version };
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
