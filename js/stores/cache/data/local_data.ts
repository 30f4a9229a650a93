/** The owner's local data: transactions over it, and what an open tab stores again after a loss. */
import { messageOf } from '../../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import {
  CACHE_STORES,
  type LocalStore,
  type LocalTransaction,
} from '../local_store/local_store.js';
import type { OwnerFlag } from '../local_store/owner_flag.js';
import { type CacheKey, nameOf, isSession } from '../records/cache_key.js';
import { dataForgottenError } from '../records/failures.js';
import { below, type OwnerRecord, newRecord } from '../records/records.js';
import { type Mutation, isOf } from '../outbox/mutation.js';
import type { SessionLocalId } from './local_ids.js';
import { carryOut } from './carry_out.js';
import { CacheTransaction, type Committed } from './cache_transaction.js';
import { MutationMemory } from './mutation_memory.js';
import { provisionalCreation } from './provisional_session.js';
import { type AheadEntry, ReadAhead } from './read_ahead.js';

export interface LocalDataParts {
  readonly store: LocalStore;
  readonly owner: string;
  /** Called when a transaction finds out that the data were forgotten. */
  readonly onForgotten?: () => void;
  /** Tells whether data that are gone were forgotten or lost. Absent: the storage loses nothing. */
  readonly flag?: OwnerFlag | undefined;
  /** The data before they were forgotten. */
  readonly earlier?: LocalData | undefined;
}

/** What a transaction finds of the owner's data. `missing`: nothing, or what another tab has restored after a loss. */
type DataCheck = 'same' | 'others' | 'missing';

/**
 * The owner's part of the local storage, from its first record until it is forgotten. The client in the owner's record
 * tells whether the data are still the same. If it is another one, or gone, each transaction fails with `aborted` and
 * stores nothing. So no work brings back data that were forgotten after it began.
 *
 * Data that the browser has lost are gone too, but their flag is still set. They keep their client, and each tab stores
 * again what it has of them. Then its transactions go on.
 */
export class LocalData {
  readonly owner: string;
  readonly #store: LocalStore;
  readonly #onForgotten: () => void;
  readonly #flag: OwnerFlag | undefined;
  readonly #memory = new MutationMemory();
  readonly #listeners = new Set<(committed: Committed) => void>();
  /** The client in the owner's record, since a transaction has found or stored it; `''` before. */
  #client = '';
  /** Whether a call of the program has begun, which may store the first record. */
  #mayBegin = false;
  #isForgotten = false;
  /** The last drawn number right after this tab's last write. */
  #counter = 0;
  /** Whether another tab or process has drawn numbers between two writes of this tab. */
  #hasOthers = false;
  /** The highest number of any transaction, also of those before the data were forgotten. */
  #highest: number;

  /** When the last loss was noticed of which this tab knows; 0: there was none. */
  #lostAt = 0;
  /** Whether the flag says that no data were lost before this tab has found any. */
  #isNew: boolean;
  #restoring: Promise<boolean> | undefined;
  #held: () => HeldData = () => ({ mutations: [], sessions: [] });

  constructor({ store, owner, onForgotten, flag, earlier }: LocalDataParts) {
    this.#store = store;
    this.owner = owner;
    this.#onForgotten = onForgotten ?? (() => undefined);
    this.#flag = flag;
    this.#isNew = flag === undefined;
    this.#highest = earlier === undefined ? 0 : earlier.#highest;
  }

  /** Sets what this tab stores again if the data are lost. */
  hold(held: () => HeldData): void {
    this.#held = held;
  }

  /** The client in the owner's record as this tab knows it; `''`: none is known. */
  get client(): string {
    return this.#client;
  }

  /**
   * Called when a call of the program begins. Only such a call may begin new data: background work must not bring back
   * forgotten data.
   */
  mayBegin(): void {
    this.#mayBegin = true;
  }

  /** From now on each transaction fails with `aborted`, because the data were forgotten. */
  end(): void {
    this.#isForgotten = true;
    this.#flag?.dropNote();
  }

  read<T>(work: (transaction: CacheTransaction) => T | Promise<T>): Promise<T> {
    return this.#run('readonly', work);
  }

  /**
   * Runs work that may be stored. Nothing is, if it throws.
   *
   * @param ahead the entries that the work will read
   */
  write<T>(
    work: (transaction: CacheTransaction) => T | Promise<T>,
    ahead: readonly AheadEntry[] = [],
  ): Promise<T> {
    return this.#run('readwrite', work, ahead);
  }

  async #run<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: CacheTransaction) => T | Promise<T>,
    ahead: readonly AheadEntry[] = [],
  ): Promise<T> {
    let finding: DataCheck = 'same';
    let done: { result: T; transaction: CacheTransaction; before: number; client: string };
    try {
      done = await this.#store.transaction(mode, async (local) => {
        const known = this.#client;
        const transaction = await this.#begin(
          ahead.length === 0 ? local : new ReadAhead(local, ahead),
        );
        finding = this.#isForgotten ? 'same' : this.#find(transaction, known);
        const isNew = mode === 'readwrite' && transaction.client === '';
        if (this.#isForgotten || finding !== 'same' || (isNew && !this.#mayBegin))
          throw dataForgottenError();
        const before = transaction.counter;
        const result = await work(transaction);
        const client = mode === 'readwrite' ? await transaction.finish() : transaction.client;
        return { result, transaction, before, client };
      });
    } catch (error) {
      // The compiler does not see that the work sets it.
      const found = finding as DataCheck;
      if (found === 'missing' && (await this.#restore())) return this.#run(mode, work, ahead);
      if (found !== 'same') this.#onForgotten();
      throw localDataError(error);
    }
    // The data are being forgotten, with what this transaction has stored. Nobody may show that.
    if (this.#isForgotten) throw dataForgottenError();
    const { result, transaction, before, client } = done;
    if (mode === 'readwrite') {
      this.#hasOthers ||= before !== this.#counter;
      this.#counter = transaction.counter;
    }
    this.#take(transaction, client);
    return result;
  }

  #begin(local: LocalTransaction, client?: string): Promise<CacheTransaction> {
    const counter = Math.max(Date.now(), this.#highest);
    return CacheTransaction.begin(local, this.owner, this.#memory, { client, counter });
  }

  /** @param known the client that was known when the transaction began */
  #find({ client, owner }: CacheTransaction, known: string): DataCheck {
    if (client === '') {
      if (this.#flag !== undefined && (known !== '' || !this.#isNew)) return 'missing';
      return known === '' ? 'same' : 'others';
    }
    // Another transaction of this tab may have stored the client meanwhile.
    if (this.#client === '') return 'same';
    if (client !== this.#client) return 'others';
    return (owner.loss?.when ?? 0) === this.#lostAt ? 'same' : 'missing';
  }

  /** Applies what was committed. */
  #take(transaction: CacheTransaction, client: string): void {
    if (client !== '' && this.#client === '') {
      this.#client = client;
      // Without a flag a loss would go unnoticed. The next opening sets the flag.
      this.#setFlag(client).catch(() => undefined);
    }
    const committed = transaction.commit();
    if (client !== '') this.#lostAt = committed.loss?.when ?? 0;
    this.#highest = Math.max(this.#highest, transaction.counter);
    for (const listener of this.#listeners) listener(committed);
  }

  /** Sets the flag, unless the data were forgotten since. */
  async #setFlag(client: string): Promise<void> {
    const flag = this.#flag;
    await flag?.exclusively(async () => {
      const record = await this.#store.transaction('readonly', (local) =>
        local.get('states', [this.owner]),
      );
      const isStored = (record as OwnerRecord | undefined)?.client === client;
      if (isStored && !this.#isForgotten) await flag.set(client);
    });
  }

  /**
   * Called when the data are gone, and when another tab has restored them.
   *
   * @returns whether a transaction finds data, or may begin new ones
   */
  #restore(): Promise<boolean> {
    this.#restoring ??= this.#restoreLost()
      .catch((error: unknown) => Promise.reject(localDataError(error)))
      .finally(() => (this.#restoring = undefined));
    return this.#restoring;
  }

  async #restoreLost(): Promise<boolean> {
    const flag = this.#flag!;
    const known = this.#client;
    // The tab has not lost what it holds, and what is missing is known before others store anything.
    const held = this.#held();
    return flag.exclusively(async () => {
      const note = await flag.note();
      const isOwn = note !== undefined && (known === '' || note.client === known);
      const found = isOwn ? await flag.findLoss() : undefined;
      const stored = await this.#store.transaction('readwrite', async (local) => {
        const transaction = await this.#begin(local, note?.client);
        const { client } = transaction;
        if (this.#isForgotten || (client !== '' && client !== known)) return undefined;
        if (client === '') {
          if (found === undefined) return undefined;
          const { when, message } = found;
          transaction.setLoss({
            ...found,
            events: note!.events,
            restored: [],
            isAcknowledged: false,
          });
          transaction.notify({ type: 'lost', when, message });
        } else {
          transaction.notify({ type: 'resync' });
        }
        await restore(transaction, held, Date.now());
        return { transaction, client: await transaction.finish() };
      });
      if (this.#isForgotten) return false;
      if (stored !== undefined) {
        this.#take(stored.transaction, stored.client);
        return true;
      }
      this.#isNew = true;
      return known === '';
    });
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

  /** Waits for work, but not after a commit of this tab that changes the mutations of a session or state. */
  async untilChanged<T>(key: CacheKey, work: Promise<T>): Promise<T | undefined> {
    const name = nameOf(key);
    let stop!: () => void;
    const changed = new Promise<undefined>((resolve) => {
      stop = this.onCommit(({ mutations }) => {
        if (mutations.has(name)) resolve(undefined);
      });
    });
    try {
      return await Promise.race([work, changed]);
    } finally {
      stop();
    }
  }

  /** Reads the mutations of a session or state again, because another tab has changed them. */
  mutations(key: CacheKey): Promise<readonly Mutation[]> {
    return this.read((transaction) => transaction.outbox.stored(key));
  }

  /** Deletes everything of the owner. @returns the client whose data they were; `''` if there were none */
  forget(): Promise<string> {
    const { from, to } = below([this.owner]);
    const forget = () =>
      this.#store.transaction('readwrite', async (local) => {
        const record = (await local.get('states', [this.owner])) as OwnerRecord | undefined;
        for (const store of CACHE_STORES) await local.delete(store, from, to);
        return record?.client ?? '';
      });
    return this.#flag === undefined ? forget() : this.#flag.whileDeleting(forget);
  }

  close(): void | Promise<void> {
    return this.#store.close();
  }
}

function localDataError(error: unknown): SessionError {
  if (isSessionError(error)) return error;
  const message = `The local storage of the cache failed: ${messageOf(error)}`;
  return new SessionError('storage_failed', message, { storage: 'cache', cause: error });
}

// Stores again what an open tab has of local data that the browser has lost.

/** What a tab has of the local data in its memory. */
interface HeldData {
  /** The mutations that were not acknowledged, by session or state. */
  readonly mutations: readonly (readonly Mutation[])[];
  /** The sessions of the remote that were read. */
  readonly sessions: readonly SessionLocalId[];
}

/** Stores what a tab has, unless another tab has stored it. */
async function restore(
  transaction: CacheTransaction,
  { mutations, sessions }: HeldData,
  now: number,
): Promise<void> {
  for (const ofOne of mutations) await restoreMutations(transaction, ofOne, now);
  // Their handles hold again when they are fetched.
  for (const { key, localId, created } of sessions) {
    const isKnown = (await transaction.copies.get(key)) ?? (await transaction.copies.evicted(key));
    if (isKnown === undefined) await transaction.copies.putEvicted(key, { localId, created });
  }
}

async function restoreMutations(
  transaction: CacheTransaction,
  mutations: readonly Mutation[],
  now: number,
): Promise<void> {
  // What another tab has restored may be sent by now.
  const restored = new Set(transaction.owner.loss?.restored);
  const rest = mutations.filter(({ number }) => !restored.has(number));
  const [first] = rest;
  if (first === undefined) return;
  const { key } = first.write;
  const stored = new Set((await transaction.outbox.stored(key)).map(({ number }) => number));
  const missing = rest.filter(({ number }) => !stored.has(number));
  if (missing.length === 0) return;
  const put = isSession(key) ? await underSession(transaction, key, missing, now) : missing;
  await carryOut(transaction, key, { type: 'added', mutations: put });
  transaction.noteRestored(missing);
}

/** Returns mutations over a session that has a record. */
async function underSession(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  mutations: readonly Mutation[],
  now: number,
): Promise<readonly Mutation[]> {
  const [first] = mutations;
  if (first === undefined) return [];
  const { localId } = first;
  const isCreated = isOf(first, 'create');
  const record = await transaction.copies.get(key);
  if (record === undefined) {
    await transaction.copies.put(key, newRecord(localId, now));
    if (isCreated) return mutations;
    // The remote has the session. It is fetched before the mutations are sent. No other mutation has a number below 1.
    const demanding = mutations.map((mutation) =>
      // They want the session gone, or nothing of it.
      isOf(mutation, 'delete', 'cancel') ? mutation : { ...mutation, needsSession: true },
    );
    return [provisionalCreation(key, { number: 0, localId, now }), ...demanding];
  }
  // Another tab has made the record.
  if (isCreated) return mutations;
  return mutations.map((mutation) =>
    mutation.localId === localId ? { ...mutation, localId: record.localId } : mutation,
  );
}
