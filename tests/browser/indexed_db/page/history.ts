// A page to which the user returns: it is restored from the back/forward cache, or loaded again.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Failure, failure, idsOf, keyOf, mark, say } from './events.js';
import { Feed } from './feed.js';

let state: { service: IndexedDbSessionService; feed: Feed } | undefined;
let wasRestored = false;

addEventListener('pageshow', ({ persisted }) => {
  if (persisted) wasRestored = true;
});

/** Begins to work, with a feed and an open connection. */
export async function visit(name: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  state = { service, feed: new Feed(service, { appName: keyOf('').appName }) };
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
}

export interface Returned {
  wasRestored: boolean;
  /** Whether the feed yielded it; waited for where the page was restored. */
  resync: boolean;
  events: string[];
}

/** Goes on with what is left of the page. */
export async function comeBack(name: string): Promise<Returned> {
  if (wasRestored !== (state !== undefined))
    throw new Error('the page is neither new nor restored');
  if (state === undefined) await visit(name);
  const { service, feed } = state!;
  const isThere = (): boolean => feed.changes.some(({ type }) => type === 'resync');
  if (wasRestored) await feed.until(isThere);
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('after') });
  const events = idsOf(await service.getSession(keyOf('one')));
  await feed.until(() => (feed.revisions().one ?? []).length > 0);
  await feed.stop();
  await service.close();
  return { wasRestored, resync: isThere(), events };
}

interface Work {
  readonly service: IndexedDbSessionService;
  /** How often each kind of work has been done. */
  readonly counts: { appends: number; reads: number; lists: number };
  isDone: boolean;
  readonly ended: Promise<unknown>;
}

let work: Work | undefined;

/** Reads, lists and appends without a pause, so that the page is left in the middle. */
export async function keepBusy(name: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  const key = keyOf('busy');
  const session = await service.getOrCreateSession({ ...key, title: 'Busy' });
  const counts = { appends: 0, reads: 0, lists: 0 };
  const repeat = async (kind: keyof Work['counts'], run: () => Promise<unknown>): Promise<void> => {
    while (work?.isDone !== true) {
      await run();
      counts[kind] += 1;
    }
  };
  const ended = Promise.all([
    repeat('appends', () => service.appendEvent({ session, event: say(`busy ${counts.appends}`) })),
    repeat('reads', () => service.getSession(key)),
    repeat('lists', () => service.listSessions({ appName: key.appName, title: 'busy' })),
  ]);
  ended.catch(() => undefined);
  work = { service, counts, isDone: false, ended };
}

/** Waits until each kind of work has been done once more. A page that was loaded again has no work. */
export async function makeProgress(): Promise<void> {
  const { counts, ended } = work ?? {};
  if (counts === undefined) return;
  const before = Object.values(counts);
  while (Object.values(counts).some((count, index) => count <= before[index]!)) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10))]);
  }
}

/** Ends the work, and returns how many events were acknowledged. A page that was loaded again has no work. */
export async function endWork(): Promise<{ wasRestored: boolean; acknowledged: number }> {
  if (work === undefined) return { wasRestored, acknowledged: 0 };
  work.isDone = true;
  await work.ended;
  await work.service.close();
  return { wasRestored, acknowledged: work.counts.appends };
}

let opened: Promise<void> | undefined;

/** Opens a new database, and returns in the middle of its upgrade. The first upgrade of this page does not end. */
export async function beginUpgrade(name: string): Promise<void> {
  const { prototype } = IDBFactory;
  const open = prototype.open.bind(indexedDB);
  const isUpgrading = new Promise<void>((resolve) => {
    prototype.open = (...parameters) => {
      prototype.open = open;
      const request = open(...parameters);
      const read = (): void => {
        const store = request.transaction!.objectStore('meta');
        store.get('none').onsuccess = read;
        resolve();
      };
      // The package sets its listener after this function, and the stores exist after that.
      queueMicrotask(() => request.addEventListener('upgradeneeded', read));
      return request;
    };
  });
  const service = new IndexedDbSessionService({ name });
  opened = service.getOrCreateSession(keyOf('one')).then(() => service.close());
  opened.catch(() => undefined);
  await isUpgrading;
}

/** Waits for the call of `beginUpgrade`, unless the page was loaded again. */
export async function endUpgrade(): Promise<void> {
  await opened;
}

/** Appends to a session of another page, and returns the ids of all its events. */
export async function appendBeside(name: string, sessionId: string, id: string): Promise<string[]> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.getOrCreateSession(keyOf(sessionId));
  await service.appendEvent({ session, event: say(id) });
  const ids = idsOf(await service.getSession(keyOf(sessionId)));
  await service.close();
  return ids;
}

/** Leaves the page in the middle of the commit of an append, and of a deletion. Each time the user returns. */
export async function leaveInCommits(
  name: string,
): Promise<{ events: string[]; deletion: Failure; isDeleted: boolean }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  await returnedFrom(() => service.appendEvent({ session, event: say('appended') }));
  const events = idsOf(await service.getSession(keyOf('one')));
  const deletion = await returnedFrom(() => failure(() => service.deleteSession(keyOf('one'))));
  const isDeleted = (await service.getSession(keyOf('one'))) === undefined;
  await service.close();
  return { events, deletion, isDeleted };
}

/** Leaves the page right after the first commit of a call, and returns to it. */
async function returnedFrom<T>(call: () => Promise<T>): Promise<T> {
  const { prototype } = IDBTransaction;
  const commit = Object.getOwnPropertyDescriptor(prototype, 'commit')!;
  const hasLeft = new Promise<void>((resolve) => {
    prototype.commit = function (this: IDBTransaction) {
      Object.defineProperty(prototype, 'commit', commit);
      this.commit();
      queueMicrotask(() => {
        dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
        resolve();
      });
    };
  });
  const called = call();
  await hasLeft;
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  return called;
}
