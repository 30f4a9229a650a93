import type {
  CacheStoreName,
  LocalKey,
  LocalRange,
  LocalTransaction,
} from '../local_store/local_store.js';

/** An entry that a transaction will read. */
export type AheadEntry = readonly [store: CacheStoreName, key: LocalKey];

/**
 * A transaction that asks for the entries which it will read as soon as it begins. So they come with its first answer,
 * and not one round after the other. Each is read once.
 */
export class ReadAhead implements LocalTransaction {
  readonly #local: LocalTransaction;
  readonly #values = new Map<string, Promise<unknown>>();

  constructor(local: LocalTransaction, entries: readonly AheadEntry[]) {
    this.#local = local;
    for (const [store, key] of entries) {
      const value = local.get(store, key);
      // Avoids an unhandled rejection: the transaction may end before it reads the entry.
      value.catch(() => undefined);
      this.#values.set(nameOf(store, key), value);
    }
  }

  get(store: CacheStoreName, key: LocalKey): Promise<unknown> {
    if (this.#values.size === 0) return this.#local.get(store, key);
    const name = nameOf(store, key);
    const value = this.#values.get(name);
    this.#values.delete(name);
    return value ?? this.#local.get(store, key);
  }

  put(store: CacheStoreName, key: LocalKey, value: unknown): Promise<void> {
    if (this.#values.size > 0) this.#values.delete(nameOf(store, key));
    return this.#local.put(store, key, value);
  }

  delete(store: CacheStoreName, from: LocalKey, to?: LocalKey): Promise<void> {
    this.#values.clear();
    return this.#local.delete(store, from, to);
  }

  list(store: CacheStoreName, range: LocalRange): Promise<readonly unknown[]> {
    return this.#local.list(store, range);
  }

  keys(store: CacheStoreName, range: LocalRange): Promise<readonly LocalKey[]> {
    return this.#local.keys(store, range);
  }
}

function nameOf(store: CacheStoreName, key: LocalKey): string {
  return JSON.stringify([store, ...key]);
}
