import { SessionError } from '../../errors/errors.js';
import { CREATION, type CreationNote, MARK, META } from '../layout.js';
import {
  type Change,
  type Current,
  lockOf,
  type Mark,
  pendingSince,
  rangeOf,
} from './mirror_position.js';
import { type Batch, MirrorDatabase } from './mirror_database.js';
import { whileShown } from '../page_hide.js';
import { resultOf, completion, lost, withDatabase } from '../requests.js';

/** Number of records that one transaction copies. */
const BATCH = 64;

/**
 * Number of attempts to copy the database. A copy is repeated if more transactions wrote meanwhile than the
 * mark lists.
 */
const TRIES = 3;

/** The note in a database whose mirror was lost too, while the database was restored. */
const LOST: CreationNote = {
  key: CREATION,
  message: 'the browser was killed while it was restored',
};

/** Timeouts in milliseconds. */
export interface Limits {
  /** Timeout of a request. */
  readonly timeout: number;
  /** Timeout for other connections to close. */
  readonly blockedTimeout: number;
}

/** Options of {@link reconcile}. */
export interface MirrorOptions extends Limits {
  /** Create a mirror if there is none. */
  readonly isWanted: boolean;
  /** Accept a mirror that cannot catch up because its quota is used up. */
  readonly mayStayBehind: boolean;
}

/**
 * Synchronises a database with its mirror, in one tab at a time.
 *
 * @returns the mark that both have reached; `undefined` if there is no mirror and none is wanted
 */
export async function reconcile(name: string, options: MirrorOptions): Promise<Mark | undefined> {
  // A page that is left must not take the lock: other tabs would wait for it until the browser gives the page up.
  return whileShown(() =>
    navigator.locks.request(lockOf(name), async () => {
      const mirror = await MirrorDatabase.open(name, options.timeout);
      try {
        return await new Reconciliation(name, mirror, options).run();
      } finally {
        mirror.close();
      }
    }),
  );
}

/** One attempt, under the lock. */
class Reconciliation {
  readonly #name: string;
  readonly #mirror: MirrorDatabase;
  readonly #options: MirrorOptions;

  constructor(name: string, mirror: MirrorDatabase, options: MirrorOptions) {
    this.#name = name;
    this.#mirror = mirror;
    this.#options = options;
  }

  async run(): Promise<Mark | undefined> {
    // Read this before the mark. Then the mirror is never ahead of the database, unless the database fell
    // back.
    const current = await this.#mirror.current();
    const begun = await this.#withPrimary((primary) => this.#begin(primary, current));
    if (begun === undefined || begun.isRestored) return begun?.mark;
    // Connections that were opened before the mark existed, or while the bucket was missing, do not mirror
    // their writes.
    if (begun.isNew || current === undefined) await this.#closeAll();
    const copy = (primary: IDBDatabase) => this.#bringUp(primary, begun.mark, current);
    try {
      return await this.#withPrimary(copy);
    } catch (error) {
      // The data can still be read and deleted. A write tries again, and fails if there still is no space.
      const isFull = (error as Error).name === 'QuotaExceededError';
      if (isFull && this.#options.mayStayBehind && !begun.isNew) return begun.mark;
      throw error;
    }
  }

  /** Restores the database if it was lost; otherwise makes sure that it has a mark. */
  async #begin(
    primary: IDBDatabase,
    current: Current | undefined,
  ): Promise<{ mark: Mark; isNew?: boolean; isRestored?: boolean } | undefined> {
    const { mark, isBlank } = await this.#look(primary);
    if (current !== undefined && isBehind(mark, isBlank, current)) {
      return { mark: await this.#restore(primary), isRestored: true };
    }
    const isHalf = mark?.isRestoring === true;
    if (mark !== undefined && !isHalf) return { mark };
    if (!isHalf && !this.#options.isWanted) return undefined;
    const made = newMark();
    if (isHalf) await this.#clear(primary, made, LOST);
    else await this.#putMark(primary, made);
    return { mark: made, isNew: true };
  }

  /** Brings the mirror up to date with the database. */
  async #bringUp(primary: IDBDatabase, mark: Mark, current: Current | undefined): Promise<Mark> {
    const isReached = current?.epoch === mark.epoch && current.seq === mark.seq;
    if (isReached && !(await this.#mirror.hasOtherCopies(current.set))) return mark;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const reached = await this.#settle(primary);
      if (reached !== undefined) return reached;
      const copied = await this.#settle(primary, await this.#copy(primary));
      if (copied !== undefined) return copied;
    }
    throw lost('too much was written while the mirror was made');
  }

  /** Copies all records beside the current copy, and returns the position from which the copy must catch up. */
  async #copy(primary: IDBDatabase): Promise<Current> {
    const mark = await this.#markIn(primary.transaction(META));
    if (mark === undefined) throw lost('the database was cleared while its mirror was made');
    const set = crypto.randomUUID();
    for (const store of primary.objectStoreNames) {
      let after: IDBValidKey | undefined;
      for (;;) {
        const batch = await this.#readBatch(primary, store, after);
        await this.#mirror.add(set, mirrored(batch));
        if (batch.keys.length < BATCH) break;
        after = batch.keys.at(-1);
      }
    }
    return { set, epoch: mark.epoch, seq: mark.seq };
  }

  /**
   * Brings the current copy, or the new one, up to date with the keys that the mark lists. Reads their records
   * in one transaction. Returns `undefined` if the mark does not list all that is missing.
   */
  async #settle(primary: IDBDatabase, copy?: Current): Promise<Mark | undefined> {
    const transaction = primary.transaction(primary.objectStoreNames);
    const mark = await this.#markIn(transaction);
    if (mark === undefined) return undefined;
    const listed = pendingSince(mark, copy?.seq ?? 0);
    const touched = listed.flatMap((entry) => entry.touched ?? []);
    const found = await Promise.all(
      touched.map(async (place) => {
        const store = transaction.objectStore(place[0]);
        const range = rangeOf(place);
        const [keys, records] = await Promise.all([
          this.#resultOf(store.getAllKeys(range)),
          this.#resultOf(store.getAll(range) as IDBRequest<unknown[]>),
        ]);
        return keys.map((key, index): Change => {
          return { touched: [place[0], key], record: records[index] };
        });
      }),
    );
    const changes = [...touched.map((place): Change => ({ touched: place })), ...found.flat()];
    return (await this.#mirror.settle(mark, changes, copy)) ? mark : undefined;
  }

  /** Restores the whole database from the mirror, and returns its new mark. */
  async #restore(primary: IDBDatabase): Promise<Mark> {
    const restoring = { ...newMark(), isRestoring: true };
    await this.#clear(primary, restoring);
    // Transactions that other tabs have not yet added to the mirror were not acknowledged. They are lost with
    // the database.
    const { set, epoch, seq } = await this.#mirror.renew(crypto.randomUUID());
    for (const name of primary.objectStoreNames) {
      let after: IDBValidKey | undefined;
      for (;;) {
        const batch = await this.#mirror.read(set, name, after, BATCH);
        const { keys } = batch;
        const transaction = primary.transaction(name, 'readwrite');
        const store = transaction.objectStore(name);
        for (const record of mirrored(batch).records) store.put(record);
        await this.#completion(transaction);
        if (keys.length < BATCH) break;
        after = keys.at(-1);
      }
    }
    return this.#putMark(primary, { key: MARK, epoch, seq, pending: [] });
  }

  /** Deletes all records, and writes these. */
  async #clear(primary: IDBDatabase, ...records: (Mark | CreationNote)[]): Promise<void> {
    const stores = [...primary.objectStoreNames];
    const transaction = primary.transaction(stores, 'readwrite', { durability: 'strict' });
    for (const store of stores) transaction.objectStore(store).clear();
    for (const record of records) transaction.objectStore(META).put(record);
    await this.#completion(transaction);
  }

  async #putMark(primary: IDBDatabase, mark: Mark): Promise<Mark> {
    const transaction = primary.transaction(META, 'readwrite', { durability: 'strict' });
    transaction.objectStore(META).put(mark);
    await this.#completion(transaction);
    return mark;
  }

  /** Reads the mark, and whether the database has no other record than a new one. */
  async #look(primary: IDBDatabase): Promise<{ mark: Mark | undefined; isBlank: boolean }> {
    const transaction = primary.transaction(primary.objectStoreNames);
    const [mark, isBlank] = await Promise.all([
      this.#markIn(transaction),
      this.#isBlankIn(transaction),
    ]);
    return { mark, isBlank };
  }

  /** Reads at most {@link BATCH} records of a store after that key. */
  async #readBatch(
    primary: IDBDatabase,
    name: string,
    after: IDBValidKey | undefined,
  ): Promise<Batch> {
    const range = after === undefined ? null : IDBKeyRange.lowerBound(after, true);
    const store = primary.transaction(name).objectStore(name);
    const [keys, records] = await Promise.all([
      this.#resultOf(store.getAllKeys(range, BATCH)),
      this.#resultOf(store.getAll(range, BATCH) as IDBRequest<unknown[]>),
    ]);
    return { store: name, keys, records };
  }

  #withPrimary<T>(run: (primary: IDBDatabase) => Promise<T>): Promise<T> {
    return withDatabase(this.#name, this.#options.timeout, run);
  }

  /**
   * Makes all tabs close their connections to the database. They reopen them when they need them. It requests
   * a higher version, as an upgrade would, and then aborts the upgrade.
   */
  async #closeAll(): Promise<void> {
    const version = await this.#withPrimary((primary) => Promise.resolve(primary.version));
    await new Promise<void>((resolve, reject) => {
      const { timeout } = this.#options;
      // Without any event, another tab's deletion comes first and waits. The lock must not wait with it.
      let late = setTimeout(() => reject(lost('no answer')), timeout);
      const request = indexedDB.open(this.#name, version + 1);
      request.onblocked = () => {
        clearTimeout(late);
        late = setTimeout(() => reject(blocked(this.#name)), this.#options.blockedTimeout);
      };
      request.onupgradeneeded = () => request.transaction?.abort();
      request.onerror = (event) => {
        event.preventDefault();
        clearTimeout(late);
        resolve();
      };
    });
  }

  #markIn(transaction: IDBTransaction): Promise<Mark | undefined> {
    return this.#resultOf(transaction.objectStore(META).get(MARK));
  }

  async #isBlankIn(transaction: IDBTransaction): Promise<boolean> {
    const first = [...transaction.objectStoreNames].map((name) =>
      this.#resultOf(transaction.objectStore(name).getAllKeys(null, 2)),
    );
    return (await Promise.all(first)).flat().every((key) => key === CREATION);
  }

  #resultOf<T>(request: IDBRequest<T>): Promise<T> {
    return resultOf(request, this.#options.timeout);
  }

  #completion(transaction: IDBTransaction): Promise<void> {
    return completion(transaction, this.#options.timeout);
  }
}

/** Returns whether the database must be restored. */
function isBehind(mark: Mark | undefined, isBlank: boolean, current: Current): boolean {
  if (isBlank || mark?.isRestoring === true) return true;
  return mark?.epoch === current.epoch && current.seq > mark.seq;
}

/** Leaves out what belongs to the database alone. */
function mirrored({ store, keys, records }: Batch): Batch {
  if (store !== META) return { store, keys, records };
  const isMirrored = (_: unknown, index: number) =>
    ![MARK, CREATION].includes(keys[index] as string);
  return { store, keys: keys.filter(isMirrored), records: records.filter(isMirrored) };
}

function newMark(): Mark {
  return { key: MARK, epoch: crypto.randomUUID(), seq: 0, pending: [] };
}

function blocked(name: string): SessionError {
  return new SessionError(
    'storage_blocked',
    `The database "${name}" is open in another tab that does not let go of it; close that tab.`,
  );
}
