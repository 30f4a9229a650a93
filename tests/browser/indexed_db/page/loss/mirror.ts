// Databases with a mirror: what they hold and what the mirror holds, lost and put back by hand.

import {
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
  openSessionService,
} from 'adk-session-wasm';
import { CREATION, MARK, META } from '../../../../../js/indexed_db/layout.js';
import { answer, completion, dump, isOpen, openBare, type Row, withDatabase } from '../bare.js';
import { around } from '../around.js';
import { APP, type Failure, failure, idsOf, keyOf, mark, persist, say, USER } from '../events.js';
import { giveUp } from './loss.js';

/** Records by store and key, as JSON, in the order of their keys. */
export interface Copies {
  primary: string[];
  mirror: string[];
  /** How far both have come. */
  seqs: [primary: number, mirror: number];
  /** Id of the mirror's current copy. */
  set: string;
}

/** The `timeoutMs` of calls that are expected to time out. */
const SHORT = 1_000;

interface Buckets {
  open(name: string): Promise<{ indexedDB: IDBFactory }>;
}

/** Kept: when Chromium collects a bucket's factory, its connections get no answer any more. */
let factory: Promise<IDBFactory> | undefined;

function bucketFactory(): Promise<IDBFactory> {
  const { storageBuckets } = navigator as unknown as { storageBuckets: Buckets };
  factory ??= storageBuckets.open('adk-session-wasm').then(({ indexedDB }) => indexedDB);
  return factory;
}

async function openMirror(name: string): Promise<IDBDatabase> {
  return answer((await bucketFactory()).open(name));
}

/** The current records of the mirror, and whether it has another copy, in progress or left over. */
async function dumpMirror(
  name: string,
): Promise<{ records: string[]; seq: number; set: string; hasOther: boolean }> {
  const database = await openMirror(name);
  try {
    const store = database.transaction('records').objectStore('records');
    const [keys, values] = await Promise.all([
      answer(store.getAllKeys()),
      answer(store.getAll() as IDBRequest<unknown[]>),
    ]);
    const current = values[keys.indexOf('current')] as { set: string; seq: number };
    const records: string[] = [];
    let hasOther = false;
    for (const [index, key] of keys.entries()) {
      if (key === 'current') continue;
      const [set, name, own] = key as [string, string, IDBValidKey];
      if (set !== current.set) hasOther = true;
      else if (own !== MARK) records.push(JSON.stringify([name, own, values[index]]));
    }
    return { records: records.sort(), seq: current.seq, set: current.set, hasOther };
  } finally {
    database.close();
  }
}

/** Reads both after all writes: pages are sealed in the background. */
export async function copies(name: string): Promise<Copies> {
  for (let tries = 0; ; tries += 1) {
    const before = await dumpPrimary(name);
    const { records, seq, set, hasOther } = await dumpMirror(name);
    const after = await dumpPrimary(name);
    const isStill = before.seq === after.seq && seq === after.seq && !hasOther;
    if (isStill || tries === 100) {
      if (hasOther) throw new Error('a copy was left behind');
      return { primary: after.records, mirror: records, seqs: [after.seq, seq], set };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function dumpPrimary(name: string): Promise<{ records: string[]; seq: number }> {
  const records: string[] = [];
  let seq = -1;
  for (const [store, rows] of Object.entries(await dump(name))) {
    for (const { key, value } of rows) {
      if (key === MARK) seq = (value as { seq: number }).seq;
      else if (key !== CREATION) records.push(JSON.stringify([store, key, value]));
    }
  }
  return { records: records.sort(), seq };
}

/** All kinds of writes. */
export async function writeMuch(
  options: IndexedDbSessionServiceOptions,
  prefix: string,
): Promise<void> {
  const service = new IndexedDbSessionService(options);
  const session = await service.getOrCreateSession({ ...keyOf('long'), state: { kept: prefix } });
  const events = Array.from({ length: 140 }, (_, number) => mark(`${prefix}:${number}`));
  await Promise.all(events.map((event) => service.appendEvent({ session, event })));
  await service.appendEvents({ session, events: ['x', 'y'].map((n) => mark(`${prefix}:${n}`)) });
  // Replaced: one in a page, and one that stands alone.
  for (const number of ['3', 'y']) {
    await service.appendEvent({ session, event: say(`${prefix}:${number}`, {}, 'replaced') });
  }
  const other = await service.createSession({ ...keyOf(`${prefix}:deleted`), state: { a: 1 } });
  await service.appendEvent({ session: other, event: mark(`${prefix}:gone`) });
  await service.deleteSession(keyOf(`${prefix}:deleted`));
  await service.updateState({ appName: APP, stateDelta: { 'app:only': prefix } });
  const user = { appName: APP, userId: `${prefix} user` };
  await service.createSession({ ...user, state: { 'user:name': prefix } });
  await service.deleteUser({ appName: APP, userId: `${prefix} user` });
  await service.close();
}

/** The data that the public calls read. */
export async function readAll(
  options: IndexedDbSessionServiceOptions,
): Promise<{ sessions: string[]; lost: string }> {
  const service = new IndexedDbSessionService(options);
  const { sessions } = await service.listSessions({ appName: APP, userId: USER });
  const all: string[] = [];
  for (const { id } of sessions) {
    all.push(JSON.stringify(await service.getSession(keyOf(id))));
  }
  const lost = service.storage.lost?.message ?? '';
  await service.close();
  return { sessions: all, lost };
}

/** Appends while the mirror cannot be written, for a reason of that name. Returns the error. */
export async function appendWithoutMirror(
  name: string,
  id: string,
  reason: string,
): Promise<Failure> {
  const service = new IndexedDbSessionService({ name, mirror: true });
  const session = await service.getOrCreateSession(keyOf('long'));
  const end = around(IDBDatabase.prototype, 'transaction', (database, values, proceed) => {
    const isMirror = database.objectStoreNames.contains('records');
    if (isMirror && values[1] === 'readwrite') throw new DOMException('not now', reason);
    return proceed(...values);
  });
  const failed = await failure(() => service.appendEvent({ session, event: mark(id) }));
  end();
  // The page ends here: nothing is mended by its end.
  return failed;
}

/**
 * Makes a mirror while a deletion waits for another connection: the request that all connections close comes after the
 * deletion, and has no event. Returns the error of the opening, after the next one has worked.
 */
export async function attachInVain(name: string): Promise<Failure> {
  await writeMuch({ name }, 'one');
  const other = await openBare(name);
  let deletion: IDBOpenDBRequest | undefined;
  const end = around(IDBFactory.prototype, 'open', (_factory, values, proceed) => {
    if (values[1] === other.version + 1) deletion ??= indexedDB.deleteDatabase(name);
    return proceed(...values);
  });
  const service = new IndexedDbSessionService({ name, mirror: true, timeoutMs: SHORT });
  const open = () => failure(() => service.open());
  let failed = await open();
  // A busy machine may need longer for what comes before the request.
  while (deletion === undefined) failed = await open();
  end();
  const deleted = answer(deletion);
  other.close();
  await deleted;
  await persist(() => service.open());
  await service.close();
  return failed;
}

/** Deletes a database whose mirror the browser does not open. */
export async function deleteInVain(name: string): Promise<Failure> {
  await writeMuch({ name, mirror: true }, 'one');
  const { storageBuckets } = navigator as unknown as { storageBuckets: Buckets };
  const end = around(Object.getPrototypeOf(storageBuckets) as Buckets, 'open', () =>
    Promise.reject(new DOMException('The bucket is damaged.', 'UnknownError')),
  );
  const failed = await failure(() => IndexedDbSessionService.deleteDatabase(name));
  end();
  return failed;
}

export interface LateMirror {
  failed: Failure;
  /** The number of connections that were opened later, and of those that the package then left open. */
  late: number;
  open: number;
}

/** The mirror opens only after its opening has timed out, because a deletion waits for another connection. */
export async function openMirrorLate(name: string): Promise<LateMirror> {
  await writeMuch({ name, mirror: true }, 'one');
  const other = await openMirror(name);
  const deleted = answer((await bucketFactory()).deleteDatabase(name));
  const openings: Promise<IDBDatabase>[] = [];
  const end = around(IDBFactory.prototype, 'open', (factory, values, proceed) => {
    const request = proceed(...values) as IDBOpenDBRequest;
    const opened = new Promise<IDBDatabase>((resolve) => {
      request.addEventListener('success', () => resolve(request.result));
    });
    if (factory !== indexedDB) openings.push(opened);
    return request;
  });
  const service = new IndexedDbSessionService({ name, timeoutMs: SHORT });
  const open = () => failure(() => service.open());
  let failed = await open();
  while (openings.length === 0) failed = await open();
  end();
  other.close();
  await deleted;
  const late = await Promise.all(openings);
  // After the other listeners of the same event.
  await new Promise((resolve) => setTimeout(resolve));
  await service.close();
  return { failed, late: late.length, open: late.filter(isOpen).length };
}

/** Leaves a part of a copy in the mirror, as a tab does that ends while it copies the database. */
export async function leaveCopy(name: string): Promise<void> {
  const database = await openMirror(name);
  const transaction = database.transaction('records', 'readwrite');
  for (const set of ['0', 'z'])
    transaction.objectStore('records').put({}, [set, 'sessions', 'key']);
  await completion(transaction);
  database.close();
}

/** Puts records into the store of the mark. */
export async function putMark(name: string, changed: Row): Promise<void> {
  await withDatabase(name, async (database) => {
    const transaction = database.transaction(META, 'readwrite');
    const store = transaction.objectStore(META);
    const found = (await answer(store.get(MARK))) as Row;
    store.put({ ...found, ...changed });
    await completion(transaction);
  });
}

/** Takes the database back to where it was before some writes, as if the disk had lost them. */
export async function fallBack(name: string): Promise<void> {
  const before = await dump(name);
  await writeMuch({ name, mirror: true }, 'later');
  await withDatabase(name, async (database) => {
    const transaction = database.transaction(Object.keys(before), 'readwrite');
    for (const [store, rows] of Object.entries(before)) {
      transaction.objectStore(store).clear();
      for (const { value } of rows) transaction.objectStore(store).put(value);
    }
    await completion(transaction);
  });
}

export async function loseMirror(name: string): Promise<void> {
  await answer((await bucketFactory()).deleteDatabase(name));
}

/** Another session service has the database open while a mirror is made, and continues to write. */
export async function attachBeside(name: string): Promise<string[]> {
  const plain = new IndexedDbSessionService({ name });
  const session = await plain.getOrCreateSession(keyOf('plain'));
  await plain.appendEvent({ session, event: mark('plain 1') });
  const mirrored = new IndexedDbSessionService({ name, mirror: true });
  await Promise.all([
    mirrored.open(),
    ...['2', '3'].map((n) => plain.appendEvent({ session, event: mark(`plain ${n}`) })),
  ]);
  await plain.appendEvent({ session, event: mark('plain 4') });
  const same = await mirrored.getSession(keyOf('plain'));
  await mirrored.appendEvent({ session: same!, event: mark('mirrored 5') });
  await Promise.all([plain.close(), mirrored.close()]);
  return idsOf(same);
}

/** One after the other, so many; returns those that were acknowledged. */
export async function appendMany(name: string, prefix: string, count: number): Promise<string[]> {
  const service = new IndexedDbSessionService({ name, mirror: true });
  const session = await persist(() => service.getOrCreateSession(keyOf('long')));
  const told: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const event = mark(`${prefix}:${number}`);
    await persist(() => service.appendEvent({ session, event }));
    told.push(event.id);
  }
  await service.close();
  return told;
}

/** Opens and closes a service so many times. */
export async function openMany(name: string, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const service = new IndexedDbSessionService({ name });
    await service.open();
    await service.close();
  }
}

/** Appends in two lanes while the database is lost again and again. */
export async function appendWhileLost(name: string): Promise<{ told: string[]; stored: string[] }> {
  let isDone = false;
  const losing = (async () => {
    for (let loss = 0; loss < 5 && !isDone; loss += 1) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      await giveUp(name);
    }
  })();
  const lanes = ['a', 'b'].map((lane) => appendMany(name, lane, 60));
  const told = (await Promise.all(lanes)).flat();
  isDone = true;
  await losing;
  const service = new IndexedDbSessionService({ name });
  const stored = idsOf(await service.getSession(keyOf('long')));
  await service.close();
  return { told, stored };
}

export async function openMirrored(name: string): Promise<{ opened: Failure; auto: Failure }> {
  const service = new IndexedDbSessionService({ name, mirror: true });
  const opened = await failure(() => service.open());
  const auto = await failure(() => openSessionService({ storage: 'auto', name, mirror: true }));
  await service.close();
  return { opened, auto };
}

export function refuseWrongMirror(): Promise<Failure> {
  return failure(() => new IndexedDbSessionService({ mirror: 'yes' as never }));
}
