import { type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';
import { raceSignal, TimeLimit } from '../../../core/call/time_limit.js';
import { messageOf } from '../../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { turnLogOver } from '../../indexed_db/log_turnover.js';
import { followPageHide, untilShown, whileShown } from '../../indexed_db/page_hide.js';
import { withTransactions } from '../../indexed_db/worker_freeze.js';
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

/** A database of object stores whose keys are outside of the values. */
export interface LocalDatabase<StoreName extends string> {
  readonly name: string;
  readonly stores: readonly StoreName[];
  /** What the messages of errors call the data. */
  readonly data: string;
  /** The `storage` of errors. */
  readonly kind: string;
}

const CACHE: LocalDatabase<CacheStoreName> = {
  name: DATABASE,
  stores: CACHE_STORES,
  data: 'the local data of the cache',
  kind: 'cache',
};
/** Milliseconds for opening the database. A tab that is frozen may hold up its deletion, and so the next opening. */
const OPENING_MS = 30_000;

type AccessMode = 'readonly' | 'readwrite';
type Transaction = IDBPTransaction<unknown, string[], AccessMode>;

/**
 * Keeps values in a database of IndexedDB: by default the copies and the outbox of caches, in a database for all
 * owners.
 */
export class IndexedDbLocalStore<
  StoreName extends string = CacheStoreName,
> implements LocalStore<StoreName> {
  readonly #given: LocalDatabase<string>;
  #database: Promise<IDBPDatabase> | undefined;
  readonly #onDeleted: () => void;
  /** Fires when the storage is closed. */
  readonly #ended = new AbortController();
  readonly #stopFollowing: () => void;
  /** The transactions that have not ended. */
  readonly #transactions = new Set<Transaction>();
  /** How often the page was frozen since the storage was opened. */
  #hideCount = 0;

  /** @param onDeleted called when the browser has closed the database, or somebody deletes it */
  constructor(onDeleted: () => void, database?: LocalDatabase<StoreName>) {
    this.#given = database ?? CACHE;
    this.#onDeleted = onDeleted;
    // An open connection may keep the page out of the back/forward cache, and looks alive if it was cut there.
    this.#stopFollowing = followPageHide((isHidden) => {
      if (isHidden) this.#suspend();
    });
  }

  async transaction<T>(
    mode: AccessMode,
    work: (transaction: LocalTransaction<StoreName>) => Promise<T>,
  ): Promise<T> {
    try {
      return await withTransactions(this.#given.name, () => this.#run(mode, work));
    } catch (error) {
      throw localError(error, this.#given);
    }
  }

  /**
   * Runs a transaction. One that was aborted because the page was frozen runs again when the page is shown, and one
   * without room once after a clean-up.
   */
  async #run<T>(
    mode: AccessMode,
    work: (transaction: LocalTransaction<StoreName>) => Promise<T>,
  ): Promise<T> {
    let isCleanedUp = mode === 'readonly';
    for (;;) {
      const before = this.#hideCount;
      try {
        return await this.#runOnce(mode, work);
      } catch (error) {
        if (this.#hideCount !== before) continue;
        if (isCleanedUp || !isWithoutRoom(error)) throw error;
        isCleanedUp = true;
        await this.#cleanUp();
      }
    }
  }

  /**
   * Runs a transaction that puts nothing. In Firefox, one behind a transaction without room may only delete. Its commit
   * shortens the write-ahead log, which counts as used room.
   */
  async #cleanUp(): Promise<void> {
    try {
      const [store] = this.#given.stores;
      await this.#runOnce('readwrite', (requests) => requests.delete(store as StoreName, ['']));
    } catch {
      // The transaction that follows tells the reason.
    }
  }

  async #runOnce<T>(
    mode: AccessMode,
    work: (transaction: LocalTransaction<StoreName>) => Promise<T>,
  ): Promise<T> {
    const transaction = await this.#begin(mode);
    this.#transactions.add(transaction);
    const requests = new IndexedDbTransaction(transaction);
    const forget = (): void => void this.#transactions.delete(transaction);
    // Its failure is handled below. Without a pending request, an abort would be an unhandled rejection.
    transaction.done.then(forget, forget);
    let result: T;
    try {
      result = await work(requests);
    } catch (error) {
      abort(transaction);
      if (!(error instanceof DOMException)) throw error;
      // A transaction that has ended refuses requests before it tells the reason.
      await transaction.done.catch(() => undefined);
      throw transaction.error ?? requests.failure ?? error;
    }
    if (mode === 'readonly') return result;
    try {
      // It commits by itself after its last request. After `commit()`, Firefox stores the other requests of one that fails.
      await transaction.done;
      return result;
    } catch (error) {
      // WebKit tells the reason to the request alone.
      throw transaction.error ?? requests.failure ?? error;
    }
  }

  async #begin(mode: AccessMode): Promise<Transaction> {
    const begin = async () => {
      // A frozen page still gets messages, but no results of IndexedDB. Its transaction would block the writes of
      // other tabs until the browser aborts it, in Chromium after a minute.
      const { signal } = this.#ended;
      await raceSignal(signal, untilShown());
      const database = await raceSignal(signal, this.#open());
      return database.transaction([...this.#given.stores], mode, { durability: 'relaxed' });
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

  #open(): Promise<IDBPDatabase> {
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

  async #connect(): Promise<IDBPDatabase> {
    if (typeof indexedDB === 'undefined') {
      const message =
        "There is no IndexedDB here; give the cache local: 'memory' or a storage of your own.";
      throw new SessionError('storage_unavailable', message, { storage: this.#given.kind });
    }
    const { name, stores } = this.#given;
    const onDeleted = this.#onDeleted;
    const forget = (): void => void (this.#database = undefined);
    const opening = openDB(name, VERSION, {
      upgrade(database) {
        for (const store of stores) database.createObjectStore(store);
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
    const limit = new TimeLimit(OPENING_MS, () => blockedOpening(this.#given));
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
    this.#ended.abort(new SessionError('closed', `The storage of ${this.#given.data} is closed.`));
    this.#stopFollowing();
    this.#disconnect();
    return Promise.resolve();
  }
}

class IndexedDbTransaction implements LocalTransaction<string> {
  /** The error of the first put that failed. */
  failure: DOMException | undefined;
  readonly #transaction: Transaction;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  get(store: string, key: LocalKey): Promise<unknown> {
    return this.#transaction.objectStore(store).get([...key]);
  }

  /** Later requests see the value. If it cannot be put, the transaction fails, so nobody has to wait. */
  put(store: string, key: LocalKey, value: unknown): Promise<void> {
    const target = this.#transaction.objectStore(store);
    let stored: Promise<unknown>;
    try {
      stored = target.put!(value, [...key]);
    } catch (error) {
      throw refusedPut(error as DOMException) ?? error;
    }
    stored.catch((error: DOMException) => {
      // The requests behind the one that failed are aborted.
      if (error.name !== 'AbortError') this.failure ??= error;
    });
    return Promise.resolve();
  }

  delete(store: string, from: LocalKey, to?: LocalKey): Promise<void> {
    const range = to === undefined ? [...from] : rangeOf({ from, to });
    if (range !== undefined) {
      this.#transaction.objectStore(store).delete!(range).catch(() => undefined);
    }
    return Promise.resolve();
  }

  async list(store: string, range: LocalRange): Promise<readonly unknown[]> {
    const keys = rangeOf(range);
    return keys === undefined ? [] : this.#transaction.objectStore(store).getAll(keys, range.limit);
  }

  async keys(store: string, range: LocalRange): Promise<readonly LocalKey[]> {
    const keys = rangeOf(range);
    if (keys === undefined) return [];
    const found = await this.#transaction.objectStore(store).getAllKeys(keys, range.limit);
    return found as (string | number)[][];
  }
}

function isWithoutRoom(error: unknown): boolean {
  return (Object(error) as { readonly name?: string }).name === 'QuotaExceededError';
}

/**
 * Firefox refuses puts of the transaction behind one without room, over the same connection. A transaction that has ended
 * refuses to give an object store, so no other put fails with this name.
 */
function refusedPut({ name, message }: DOMException): DOMException | undefined {
  return name === 'InvalidStateError' ? new DOMException(message, 'QuotaExceededError') : undefined;
}

function abort(transaction: Transaction): void {
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

function blockedOpening({ data, kind }: LocalDatabase<string>): SessionError {
  const message =
    `Opening ${data} took more than ${OPENING_MS} ms: another tab of this site holds them up. ` +
    'Close other tabs of this site, then try again.';
  return new SessionError('storage_blocked', message, { storage: kind });
}

function localError(error: unknown, { data, kind }: LocalDatabase<string>): SessionError {
  if (isSessionError(error)) return error;
  const { name } = Object(error) as { readonly name?: string };
  const fields = { storage: kind, cause: error };
  if (isWithoutRoom(error)) {
    return new SessionError('quota_exceeded', `There is no room left for ${data}.`, fields);
  }
  if (name === 'VersionError') {
    const message = `A newer version of this package wrote ${data}. Reload the page to update it.`;
    return new SessionError('storage_newer', message, fields);
  }
  const message = `The storage of ${data} failed: ${messageOf(error)}`;
  return new SessionError('storage_failed', message, fields);
}
