import type { MaybePromise } from '../../call/call.js';
import { isSessionError, SessionError } from '../../errors/errors.js';
import { messageOf } from '../../errors/describe.js';
import { CACHE_STORES, type LocalStore } from '../local/local_store.js';
import { type CacheKey, nameOf } from '../records/cache_key.js';
import { CacheTransaction, type Committed } from './cache_transaction.js';
import { OperationMemory } from './operation_memory.js';
import { erasedError } from '../records/failures.js';
import { below, type Operation, type OwnerRecord } from '../records/records.js';

/**
 * The owner's part of the local storage, from its first record to its erasure. The client in the owner's record tells
 * whether the data are still the same. If it is another one, or gone, each transaction fails with `aborted` and stores
 * nothing. So no work brings data back that were erased after it began.
 */
export class LocalData {
  readonly owner: string;
  readonly #store: LocalStore;
  readonly #onErased: () => void;
  readonly #memory = new OperationMemory();
  readonly #listeners = new Set<(committed: Committed) => void>();
  /** The client in the owner's record, since a transaction has found or stored it; `''` before. */
  #client = '';
  /** Whether a call of the program has begun, which may store the first record. */
  #mayBegin = false;
  #isErased = false;
  /** The last drawn number right after this tab's last write. */
  #counter = 0;
  /** Whether another tab or process has drawn numbers between two writes of this tab. */
  #hasOthers = false;
  /** The highest number of any transaction, also of those before the data were erased. */
  #highest: number;

  /**
   * @param onErased called when a transaction finds out that the data are gone
   * @param earlier the data before they were erased
   */
  constructor(store: LocalStore, owner: string, onErased: () => void, earlier?: LocalData) {
    this.#store = store;
    this.owner = owner;
    this.#onErased = onErased;
    this.#highest = earlier === undefined ? 0 : earlier.#highest;
  }

  /** The client in the owner's record as this tab knows it; `''`: none is known. */
  get client(): string {
    return this.#client;
  }

  /** Called when a call of the program begins. Only then new data may begin: background work must not bring erased data back. */
  mayBegin(): void {
    this.#mayBegin = true;
  }

  /** From now on each transaction fails with `aborted`, because the data were erased. */
  end(): void {
    this.#isErased = true;
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
    let done: CacheTransaction | undefined;
    let before = 0;
    let client = '';
    let isGone = false;
    let result: T;
    try {
      result = await this.#store.transaction(mode, async (local) => {
        const known = this.#client;
        const first = Math.max(Date.now(), this.#highest);
        const transaction = await CacheTransaction.begin(local, this.owner, this.#memory, first);
        isGone = !this.#isErased && this.#isOther(transaction.client, known);
        const isNew = mode === 'readwrite' && transaction.client === '';
        if (this.#isErased || isGone || (isNew && !this.#mayBegin)) throw erasedError();
        before = transaction.counter;
        const result = await work(transaction);
        client = mode === 'readwrite' ? await transaction.finish() : transaction.client;
        done = transaction;
        return result;
      });
    } catch (error) {
      if (isGone) this.#onErased();
      if (isSessionError(error)) throw error;
      const message = `The local storage of the cache failed: ${messageOf(error)}`;
      throw new SessionError('storage_failed', message, { storage: 'cache', cause: error });
    }
    // What it has stored is erased next, and nobody may show it.
    if (this.#isErased) throw erasedError();
    if (client !== '') this.#client = client;
    const committed = done!.commit();
    this.#highest = Math.max(this.#highest, done!.counter);
    if (mode === 'readwrite') {
      this.#hasOthers ||= before !== this.#counter;
      this.#counter = done!.counter;
    }
    for (const listener of this.#listeners) listener(committed);
    return result;
  }

  /** Whether the data are no longer those of the client that was known when a transaction began. */
  #isOther(found: string, known: string): boolean {
    // Another transaction of this tab may have stored the client meanwhile.
    return found === '' ? known !== '' : this.#client !== '' && found !== this.#client;
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

  /** Erases everything of the owner. @returns the client whose data they were; `''` if there were none */
  erase(): Promise<string> {
    const { from, to } = below([this.owner]);
    return this.#store.transaction('readwrite', async (local) => {
      const record = (await local.get('states', [this.owner])) as OwnerRecord | undefined;
      for (const store of CACHE_STORES) await local.delete(store, from, to);
      return record?.client ?? '';
    });
  }

  close(): void | Promise<void> {
    return this.#store.close();
  }
}
