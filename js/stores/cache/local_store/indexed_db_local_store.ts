import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';
import { raceSignal, TimeLimit } from '../../../core/call/time_limit.js';
import { messageOf } from '../../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { turnLogOver } from '../../indexed_db/log_turnover.js';
import { followPageHide, untilShown, whileShown } from '../../indexed_db/page_hide.js';
import {
  CACHE_STORES,
  type CacheStoreName,
  type LocalKey,
  type LocalRange,
  type LocalStore,
  type LocalTransaction,
} from './local_store.js';

/** The name of the database. It names no owner. */
export const DATABASE = 'adk-session-wasm cache';
/** The version of the object stores. */
const VERSION = 1;
/** Milliseconds for opening the database. A tab that is frozen may hold up its deletion, and so the next opening. */
const OPENING_MS = 30_000;

type Stores = DBSchema & Record<CacheStoreName, { key: (string | number)[]; value: unknown }>;
type AccessMode = 'readonly' | 'readwrite';

/** Keeps the copies and the outbox in IndexedDB, in a database for all owners. */
export class IndexedDbLocalStore implements LocalStore {
  #database: Promise<IDBPDatabase<Stores>> | undefined;
  readonly #onDeleted: () => void;
  /** Fires when the storage is closed. */
  readonly #ended = new AbortController();
  readonly #stopFollowing: () => void;
  /** The transactions that have not ended. */
  readonly #transactions = new Set<IDBPTransaction<Stores, CacheStoreName[], AccessMode>>();
  /** How often the page was frozen since the storage was opened. */
  #hideCount = 0;

  /** @param onDeleted called when the browser has closed the database, or somebody deletes it */
  constructor(onDeleted: () => void) {
    this.#onDeleted = onDeleted;
    // An open connection may keep the page out of the back/forward cache, and looks alive if it was cut there.
    this.#stopFollowing = followPageHide((isHidden) => {
      if (isHidden) this.#suspend();
    });
  }

  async transaction<T>(
    mode: AccessMode,
    work: (transaction: LocalTransaction) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#run(mode, work);
    } catch (error) {
      throw localError(error);
    }
  }

  /** A transaction that was aborted because the page was frozen runs again when the page is shown. */
  async #run<T>(mode: AccessMode, work: (transaction: LocalTransaction) => Promise<T>): Promise<T> {
    for (;;) {
      const before = this.#hideCount;
      try {
        return await this.#runOnce(mode, work);
      } catch (error) {
        if (this.#hideCount === before) throw error;
      }
    }
  }

  async #runOnce<T>(
    mode: AccessMode,
    work: (transaction: LocalTransaction) => Promise<T>,
  ): Promise<T> {
    const transaction = await this.#begin(mode);
    this.#transactions.add(transaction);
    // Its failure is handled below. Without a pending request, an abort would be an unhandled rejection.
    const forget = (): void => void this.#transactions.delete(transaction);
    transaction.done.then(forget, forget);
    let result: T;
    try {
      result = await work(new IndexedDbTransaction(transaction));
    } catch (error) {
      abort(transaction);
      throw transaction.error ?? error;
    }
    if (mode === 'readonly') return result;
    transaction.commit();
    await transaction.done;
    return result;
  }

  async #begin(mode: AccessMode): Promise<IDBPTransaction<Stores, CacheStoreName[], AccessMode>> {
    const begin = async () => {
      // A frozen page still gets messages, but no results of IndexedDB. Its transaction would block the writes of
      // other tabs until the browser aborts it, in Chromium after a minute.
      const { signal } = this.#ended;
      await raceSignal(signal, untilShown());
      const database = await raceSignal(signal, this.#open());
      return database.transaction([...CACHE_STORES], mode, { durability: 'relaxed' });
    };
    try {
      return await begin();
    } catch (error) {
      // The browser has closed the connection, for example because a page deleted the database.
      if ((error as DOMException | undefined)?.name !== 'InvalidStateError') throw error;
      this.#database = undefined;
      return begin();
    }
  }

  #open(): Promise<IDBPDatabase<Stores>> {
    // If the page is left, the browser may never answer: the opening is repeated when the user returns.
    const opening = this.#database ?? whileShown(() => this.#connect());
    this.#database = opening;
    return opening.catch((error: unknown) => {
      if (this.#database === opening) this.#database = undefined;
      throw error;
    });
  }

  /**
   * Aborts the transactions, and closes the connection. A connection closes only after its transactions, which do not
   * end in a frozen page of Firefox or WebKit. Until then no tab could write, or delete the database.
   */
  #suspend(): void {
    this.#hideCount += 1;
    for (const transaction of this.#transactions) abort(transaction);
    this.#disconnect();
  }

  /** Closes the connection. The next transaction opens another one. */
  #disconnect(): void {
    const database = this.#database;
    this.#database = undefined;
    database?.then(
      (database) => database.close(),
      () => undefined,
    );
  }

  async #connect(): Promise<IDBPDatabase<Stores>> {
    if (typeof indexedDB === 'undefined') {
      const message =
        "There is no IndexedDB here; give the cache local: 'memory' or a storage of your own.";
      throw new SessionError('storage_unavailable', message, { storage: 'cache' });
    }
    const onDeleted = this.#onDeleted;
    const forget = (): void => void (this.#database = undefined);
    const opening = openDB<Stores>(DATABASE, VERSION, {
      upgrade(database) {
        for (const name of CACHE_STORES) database.createObjectStore(name);
      },
      // Another tab has a newer version of the package, or deletes the database. It must not wait for this one.
      blocking(_, newVersion, event) {
        (event.target as IDBDatabase | null)?.close();
        forget();
        if (newVersion === null) onDeleted();
      },
      terminated: () => {
        forget();
        onDeleted();
      },
    });
    const limit = new TimeLimit(OPENING_MS, blockedOpening);
    try {
      const database = await limit.race(opening);
      turnLogOver();
      return database;
    } catch (error) {
      opening.then(
        (database) => database.close(),
        () => undefined,
      );
      throw error;
    } finally {
      limit.end();
    }
  }

  close(): Promise<void> {
    this.#ended.abort(new SessionError('closed', 'The local storage of the cache is closed.'));
    this.#stopFollowing();
    this.#disconnect();
    return Promise.resolve();
  }
}

class IndexedDbTransaction implements LocalTransaction {
  readonly #transaction: IDBPTransaction<Stores, CacheStoreName[], AccessMode>;

  constructor(transaction: IDBPTransaction<Stores, CacheStoreName[], AccessMode>) {
    this.#transaction = transaction;
  }

  get(store: CacheStoreName, key: LocalKey): Promise<unknown> {
    return this.#transaction.objectStore(store).get([...key]);
  }

  /** Later requests see the value. If it cannot be put, the transaction fails, so nobody has to wait. */
  put(store: CacheStoreName, key: LocalKey, value: unknown): Promise<void> {
    this.#transaction.objectStore(store).put!(value, [...key]).catch(() => undefined);
    return Promise.resolve();
  }

  delete(store: CacheStoreName, from: LocalKey, to?: LocalKey): Promise<void> {
    const range = to === undefined ? [...from] : rangeOf({ from, to });
    if (range !== undefined) {
      this.#transaction.objectStore(store).delete!(range).catch(() => undefined);
    }
    return Promise.resolve();
  }

  async list(store: CacheStoreName, range: LocalRange): Promise<readonly unknown[]> {
    const keys = rangeOf(range);
    return keys === undefined ? [] : this.#transaction.objectStore(store).getAll(keys, range.limit);
  }

  async keys(store: CacheStoreName, range: LocalRange): Promise<readonly LocalKey[]> {
    const keys = rangeOf(range);
    if (keys === undefined) return [];
    return this.#transaction.objectStore(store).getAllKeys(keys, range.limit);
  }
}

function abort(transaction: IDBPTransaction<Stores, CacheStoreName[], AccessMode>): void {
  try {
    transaction.abort();
  } catch {
    // It has ended, or commits.
  }
}

/** Returns `undefined` for an empty range, which IndexedDB refuses. With the limit 0 it would return everything. */
function rangeOf({ from, to, limit }: LocalRange): IDBKeyRange | undefined {
  return limit !== 0 && indexedDB.cmp([...from], [...to]) < 0
    ? IDBKeyRange.bound([...from], [...to], false, true)
    : undefined;
}

function blockedOpening(): SessionError {
  const message =
    `The local data of the cache could not be opened within ${OPENING_MS} ms: another tab of this site holds them up. ` +
    'Close other tabs of this site, then try again.';
  return new SessionError('storage_blocked', message, { storage: 'cache' });
}

function localError(error: unknown): SessionError {
  if (isSessionError(error)) return error;
  const { name } = Object(error) as { readonly name?: string };
  const fields = { storage: 'cache', cause: error };
  if (name === 'QuotaExceededError') {
    return new SessionError(
      'quota_exceeded',
      'There is no room left for the local data of the cache.',
      fields,
    );
  }
  if (name === 'VersionError') {
    const message =
      'A newer version of this package wrote the local data. Reload the page to update it.';
    return new SessionError('storage_newer', message, fields);
  }
  const message = `The local storage of the cache failed: ${messageOf(error)}`;
  return new SessionError('storage_failed', message, fields);
}
