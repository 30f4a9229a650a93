import { KeyedQueue } from '../../../core/call/scheduling.js';
import { markRaw } from '../../../values/members.js';
import {
  CACHE_STORES,
  type CacheStoreName,
  compareKeys,
  type LocalKey,
  type LocalRange,
  type LocalStore,
  type LocalTransaction,
} from './local_store.js';

/**
 * Keeps the copies and the outbox of a cache in memory, for tests and for Node. Caches that share one are like tabs of
 * one device.
 *
 * @example
 * ```ts
 * import { MemoryLocalStore } from 'adk-session-wasm/cache';
 *
 * const local = new MemoryLocalStore();
 * ```
 */
export class MemoryLocalStore<
  StoreName extends string = CacheStoreName,
> implements LocalStore<StoreName> {
  static {
    markRaw(this.prototype);
  }

  readonly #stores: ReadonlyMap<string, SortedEntries>;
  readonly #transactions = new KeyedQueue<undefined>();

  /** @internal */
  constructor(stores: readonly StoreName[]);
  constructor();
  constructor(stores: readonly string[] = CACHE_STORES) {
    this.#stores = new Map(stores.map((name) => [name, new SortedEntries()] as const));
  }

  /** Runs work in one transaction; transactions run one after the other. */
  transaction<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: LocalTransaction<StoreName>) => Promise<T>,
  ): Promise<T> {
    return this.#transactions.run(undefined, async () => {
      const transaction = new MemoryTransaction(this.#stores, mode);
      try {
        return await work(transaction);
      } catch (error) {
        transaction.undo();
        throw error;
      } finally {
        transaction.end();
      }
    });
  }

  /** Does nothing: another cache may still use the store. */
  close(): void {
    // The memory is free when nothing refers to the store.
  }
}

class MemoryTransaction implements LocalTransaction<string> {
  readonly #stores: ReadonlyMap<string, SortedEntries>;
  readonly #mode: 'readonly' | 'readwrite';
  readonly #undo: (() => void)[] = [];
  #hasEnded = false;

  constructor(stores: ReadonlyMap<string, SortedEntries>, mode: 'readonly' | 'readwrite') {
    this.#stores = stores;
    this.#mode = mode;
  }

  get(store: string, key: LocalKey): Promise<unknown> {
    return this.#run(() => this.#entries(store).get(key));
  }

  put(store: string, key: LocalKey, value: unknown): Promise<void> {
    return this.#change(() => {
      const entries = this.#entries(store);
      const earlier = entries.put(key, value);
      this.#undo.push(() => {
        if (earlier === undefined) entries.delete(key);
        else entries.put(key, earlier.value);
      });
    });
  }

  delete(store: string, from: LocalKey, to?: LocalKey): Promise<void> {
    return this.#change(() => {
      const entries = this.#entries(store);
      const deleted = entries.delete(from, to);
      this.#undo.push(() => {
        for (const { key, value } of deleted) entries.put(key, value);
      });
    });
  }

  list(store: string, range: LocalRange): Promise<readonly unknown[]> {
    return this.#run(() =>
      this.#entries(store)
        .list(range)
        .map(({ value }) => value),
    );
  }

  keys(store: string, range: LocalRange): Promise<readonly LocalKey[]> {
    return this.#run(() =>
      this.#entries(store)
        .list(range)
        .map(({ key }) => key),
    );
  }

  undo(): void {
    for (const undo of this.#undo.reverse()) undo();
  }

  end(): void {
    this.#hasEnded = true;
  }

  #entries(name: string): SortedEntries {
    return this.#stores.get(name)!;
  }

  #change(work: () => void): Promise<void> {
    return this.#run(() => {
      if (this.#mode === 'readonly') throw new Error('The transaction only reads.');
      work();
    });
  }

  async #run<T>(work: () => T): Promise<T> {
    if (this.#hasEnded) throw new Error('The transaction has ended.');
    return Promise.resolve(work());
  }
}

interface MemoryEntry {
  readonly key: LocalKey;
  readonly value: unknown;
}

/** Entries in the order of their keys. */
class SortedEntries {
  readonly #entries: MemoryEntry[] = [];

  get(key: LocalKey): unknown {
    const entry = this.#entries[this.#indexOf(key)];
    return entry !== undefined && compareKeys(entry.key, key) === 0 ? entry.value : undefined;
  }

  /** Returns the entry that had the key. */
  put(key: LocalKey, value: unknown): MemoryEntry | undefined {
    const index = this.#indexOf(key);
    const present = this.#entries[index];
    const isThere = present !== undefined && compareKeys(present.key, key) === 0;
    this.#entries.splice(index, isThere ? 1 : 0, { key: [...key], value });
    return isThere ? present : undefined;
  }

  /** Returns the deleted entries. */
  delete(from: LocalKey, to?: LocalKey): MemoryEntry[] {
    const start = this.#indexOf(from);
    if (to !== undefined)
      return this.#entries.splice(start, Math.max(0, this.#indexOf(to) - start));
    const entry = this.#entries[start];
    const isThere = entry !== undefined && compareKeys(entry.key, from) === 0;
    return isThere ? this.#entries.splice(start, 1) : [];
  }

  list({ from, to, limit = Infinity }: LocalRange): MemoryEntry[] {
    const [start, end] = [this.#indexOf(from), this.#indexOf(to)];
    return this.#entries.slice(start, Math.min(end, start + limit));
  }

  /** Returns the index of the first entry whose key is not before this one. */
  #indexOf(key: LocalKey): number {
    let [low, high] = [0, this.#entries.length];
    // Most keys are the last so far.
    const last = this.#entries[high - 1];
    if (last !== undefined && compareKeys(last.key, key) < 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#entries[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
