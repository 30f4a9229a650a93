/**
 * The interface of the cache's local storage: four object stores, and transactions over any of them.
 *
 * @module
 */

/** The names of the object stores. */
export const CACHE_STORES = ['sessions', 'events', 'states', 'outbox'] as const;

/** The name of an object store of the cache. */
export type CacheStoreName = (typeof CACHE_STORES)[number];

/**
 * The key of an entry. Keys are ordered as in IndexedDB: member by member, numbers before strings, and a key before
 * those that it begins.
 */
export type LocalKey = readonly (string | number)[];

/** The entries to list: from a key on, up to another one that is not included. */
export interface LocalRange {
  /** The first key. */
  readonly from: LocalKey;
  /** The end; this key is not included. */
  readonly to: LocalKey;
  /** The most entries. Absent: all. */
  readonly limit?: number | undefined;
}

/** A transaction over all object stores, which are the cache's unless others are named. */
export interface LocalTransaction<StoreName extends string = CacheStoreName> {
  /** Returns a value; `undefined` if there is none. */
  get(store: StoreName, key: LocalKey): Promise<unknown>;
  /** Stores a value in place of an earlier one. The caller does not change it afterwards. */
  put(store: StoreName, key: LocalKey, value: unknown): Promise<void>;
  /** Deletes an entry, or with `to` all from `from` up to `to`, which is not included. */
  delete(store: StoreName, from: LocalKey, to?: LocalKey): Promise<void>;
  /** Lists values in the order of their keys. */
  list(store: StoreName, range: LocalRange): Promise<readonly unknown[]>;
  /** Lists keys in their order. */
  keys(store: StoreName, range: LocalRange): Promise<readonly LocalKey[]>;
}

/**
 * The local storage of a cache. Several caches may share one: that is how tabs, and owners, share a database.
 *
 * @example
 * ```ts
 * import { CachedSessionService, MemoryLocalStore } from 'adk-session-wasm/cache';
 * import { RemoteSessionService } from 'adk-session-wasm/remote';
 *
 * const local = new MemoryLocalStore();
 * const remote = new RemoteSessionService({ url: 'https://chat.example/api/sessions' });
 * const service = new CachedSessionService({ remote, owner: 'ada', local });
 * ```
 */
export interface LocalStore<StoreName extends string = CacheStoreName> {
  /**
   * Runs work in one transaction. It commits when the promise of the work resolves, and nothing is stored if it
   * rejects. The work awaits only the transaction's own requests. Transactions that write run one after the other.
   */
  transaction<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: LocalTransaction<StoreName>) => Promise<T>,
  ): Promise<T>;
  /** Closes the storage. The cache calls it only for a storage that it has opened. */
  close(): void | Promise<void>;
}

/** Compares keys. */
export function compareKeys(one: LocalKey, other: LocalKey): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [one[index]!, other[index]!];
    if (left === right) continue;
    if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return one.length - other.length;
}
