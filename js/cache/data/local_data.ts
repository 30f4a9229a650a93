import type { MaybePromise } from '../../call/call.js';
import { isSessionError, SessionError } from '../../errors/errors.js';
import { messageOf } from '../../errors/describe.js';
import type { LocalStore } from '../local/local_store.js';
import { type CacheKey, nameOf } from '../records/cache_key.js';
import { CacheTransaction, type Committed } from './cache_transaction.js';
import { OperationMemory } from './operation_memory.js';
import { below, type Operation } from '../records/records.js';

/** The owner's part of the local storage. */
export class LocalData {
  readonly owner: string;
  readonly #store: LocalStore;
  /** What is remembered of the data of one client. Data that were erased and begun again have another client. */
  #memory = { client: '', memory: new OperationMemory() };
  readonly #listeners = new Set<(committed: Committed) => void>();
  /** The last drawn number right after this tab's last write. */
  #counter = 0;
  /** Whether another tab or process has drawn numbers between two writes of this tab. */
  #hasOthers = false;
  /** The highest number of any transaction, also of those before the data were erased. */
  #highest = 0;

  constructor(store: LocalStore, owner: string) {
    this.#store = store;
    this.owner = owner;
  }

  read<T>(work: (transaction: CacheTransaction) => MaybePromise<T>): Promise<T> {
    return this.#run('readonly', work);
  }

  /** Runs work that may be stored. Nothing is, if it throws. */
  write<T>(work: (transaction: CacheTransaction) => MaybePromise<T>): Promise<T> {
    return this.#run('readwrite', work);
  }

  async #run<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: CacheTransaction) => MaybePromise<T>,
  ): Promise<T> {
    const memoryOf = (client: string): OperationMemory => {
      const memory = this.#memory.client === client ? this.#memory.memory : new OperationMemory();
      this.#memory = { client, memory };
      return memory;
    };
    let done: CacheTransaction | undefined;
    let before = 0;
    let result: T;
    try {
      result = await this.#store.transaction(mode, async (local) => {
        const first = Math.max(Date.now(), this.#highest);
        const transaction = await CacheTransaction.begin(local, this.owner, memoryOf, first);
        before = transaction.counter;
        const result = await work(transaction);
        if (mode === 'readwrite') await transaction.finish();
        done = transaction;
        return result;
      });
    } catch (error) {
      if (isSessionError(error)) throw error;
      const message = `The local storage of the cache failed: ${messageOf(error)}`;
      throw new SessionError('storage_failed', message, { storage: 'cache', cause: error });
    }
    const committed = done!.commit();
    this.#highest = Math.max(this.#highest, done!.counter);
    if (mode === 'readwrite') {
      this.#hasOthers ||= before !== this.#counter;
      this.#counter = done!.counter;
    }
    for (const listener of this.#listeners) listener(committed);
    return result;
  }

  /** Returns whether another tab or process has written since the last call. Only writes of this tab notice it. */
  takeOthers(): boolean {
    const hasOthers = this.#hasOthers;
    this.#hasOthers = false;
    return hasOthers;
  }

  /** Calls a function after each commit, until the returned function is called. */
  onCommit(listener: (committed: Committed) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Waits for work, but not after a commit of this tab that changes the operations of a session or state. */
  async untilChanged<T>(key: CacheKey, work: Promise<T>): Promise<T | undefined> {
    const name = nameOf(key);
    let stop!: () => void;
    const changed = new Promise<undefined>((resolve) => {
      stop = this.onCommit(({ operations }) => {
        if (operations.has(name)) resolve(undefined);
      });
    });
    try {
      return await Promise.race([work, changed]);
    } finally {
      stop();
    }
  }

  /** Reads the operations of a session or state again, because another tab has changed them. */
  operations(key: CacheKey): Promise<readonly Operation[]> {
    return this.read((transaction) => transaction.storedOperations(key));
  }

  /** Erases everything of the owner. */
  async erase(): Promise<void> {
    const { from, to } = below([this.owner]);
    await this.#store.transaction('readwrite', async (local) => {
      for (const store of ['sessions', 'events', 'states', 'outbox'] as const) {
        await local.delete(store, from, to);
      }
    });
  }

  close(): void | Promise<void> {
    return this.#store.close();
  }
}
