// A local storage whose transactions a test may hold or let fail.

import {
  type CacheStoreName,
  type LocalKey,
  type LocalStore,
  type LocalTransaction,
  MemoryLocalStore,
} from '../../../../js/service/cache/index.js';

/** Lets what passes it wait until it is opened. */
export class Gate {
  isReached = false;
  open!: () => void;
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve));

  pass(): Promise<void> {
    this.isReached = true;
    return this.#opened;
  }
}

/** A tab's view of a storage that several tabs share. */
export class HeldStore implements LocalStore {
  readonly memory: MemoryLocalStore;
  /** Called before each transaction. */
  before: (mode: 'readonly' | 'readwrite') => void | Promise<void> = () => undefined;
  /** Called before each `put`. */
  beforePut: (store: CacheStoreName, key: LocalKey) => void = () => undefined;

  constructor(memory = new MemoryLocalStore()) {
    this.memory = memory;
  }

  async transaction<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: LocalTransaction) => Promise<T>,
  ): Promise<T> {
    await this.before(mode);
    return this.memory.transaction(mode, (transaction) =>
      work({
        get: (...parameters) => transaction.get(...parameters),
        delete: (...parameters) => transaction.delete(...parameters),
        list: (...parameters) => transaction.list(...parameters),
        keys: (...parameters) => transaction.keys(...parameters),
        put: async (store, key, value) => {
          this.beforePut(store, key);
          await transaction.put(store, key, value);
        },
      }),
    );
  }

  close(): void {
    // The tabs share the memory.
  }
}

/** Everything that a storage has, by store. */
export function entriesOf(local: LocalStore, store: CacheStoreName) {
  return local.transaction('readonly', async (transaction) => {
    const all = { from: [], to: ['\uffff'] };
    const values = await transaction.list(store, all);
    return (await transaction.keys(store, all)).map((key, index) => ({
      key,
      value: values[index],
    }));
  });
}

/** The ids of the sessions that have a copy. */
export async function copiesIn(local: LocalStore): Promise<string[]> {
  const entries = await entriesOf(local, 'sessions');
  const copies = entries.filter(({ value }) => (value as { copy?: unknown }).copy !== undefined);
  return copies.map(({ key }) => String(key.at(-1))).sort();
}
