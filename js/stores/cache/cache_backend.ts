/**
 * A cache keeps copies of a remote service's sessions on this device, and an outbox of the changes that the remote has
 * not confirmed. Reads return the copy with the outbox over it.
 *
 * | word in this folder | meaning |
 * |---|---|
 * | remote | the service behind the cache |
 * | owner | whose local data it is: one login. Not a `StateOwner`, which is the user or the app of a shared state |
 * | shared state | the state of a user or an app |
 * | name | the text of a session's or a shared state's key; see `nameOf` |
 * | copy | what the remote has said of a session: its newest events, its state, its revisions |
 * | operation | a change that the remote has not confirmed; the outbox holds the operations |
 * | overlay | the operations of a session, folded in their order |
 * | view | a session as readers see it: the copy with the overlay over it |
 * | number | names an operation or orders a change; each owner has one counter, from which all numbers are drawn |
 * | tick | the number of the last change of an event or a session: its local revision |
 * | birth | the number that a session got when it came to this device; handles have it as `created` |
 * | stamp | the number of the last change of a session's operations; it tells whether those in memory are current |
 * | client | the UUID by which the remote knows the local data; after an erasure it is another one |
 * | epoch | the parts of a cache from one erasure to the next |
 * | began | the counter when a fetch began |
 * | overtaken | of a state that has changed here since a fetch began, so that it is fetched again |
 * | arrive | of an operation: the remote has confirmed it |
 * | land | to apply the remote's answer to operations |
 * | landed | the remote's revision with which an operation arrived; it stays until the copy has that revision |
 * | placed | where the remote has put each event of an append |
 * | refused | of an operation that the remote will never accept; it blocks only its own session |
 * | given up | of a copy that was deleted for want of room; the remote still has the session |
 * | unkept | of a fetched session that has no copy: it is read from memory |
 * | stand-in | the creation of an unknown session, to write to it while the remote does not answer |
 * | leader | the one tab that sends, and that follows the remote's feed |
 * | erased | deleted on purpose, by `forget` |
 * | lost | deleted by the browser; open tabs store again what they have |
 *
 * `records/` has the forms of what is stored, `local/` the storages, `data/` one transaction, `view/` what readers see,
 * `copies/` fetches, `storage/` local writes, `sending/` the outbox on its way, `tabs/` the other tabs. The folder
 * knows the remote as a `ServiceCore`, which is its only import from `js/service`. It knows no class of services and no
 * user interface.
 */
import type { CompositeSessionKey } from '../../values/model/session.js';
import { StorageBackend } from '../../core/storage/driver/storage_backend.js';
import { storageKey } from '../../core/storage/scopes.js';
import {
  runWrite,
  type Appended,
  type Backend,
  type CreatedSession,
  type Deletion,
  type Results,
  type SharedRevisions,
  type StoredKind,
  type WriteVerbs,
} from '../../core/storage/backend.js';
import type { Call, MaybePromise } from '../../core/call/call.js';
import { isSessionError } from '../../values/errors/errors.js';
import { endsWithin } from '../../core/call/time_limit.js';
import type {
  Computed,
  CreateWrite,
  DeleteWrite,
  DescribeWrite,
  Placed,
  PlacedAppend,
  UpdateWrite,
} from '../../core/write.js';
import type { CopyLimits } from './copies/copy_limits.js';
import { CacheHistory } from './cache_history.js';
import { CopyReads, type ReadParts } from './copy_reads.js';
import type { CacheTransaction } from './data/cache_transaction.js';
import { type CacheKey, isSession } from './records/cache_key.js';
import { isOutage } from './records/failures.js';
import { CacheStorage } from './storage/cache_storage.js';
import { standIn } from './data/stand_in.js';
import type { Sender } from './sending/sender.js';

export interface CacheBackendParts extends ReadParts {
  readonly bounds: CopyLimits;
  readonly sender: Sender;
  readonly isThrough: boolean;
}

/** The local data as a backend. {@link CopyReads} has its reads. A write adds operations, which are sent later. */
export class CacheBackend extends CopyReads implements Backend, WriteVerbs {
  readonly history: CacheHistory;
  readonly #parts: CacheBackendParts;

  constructor(parts: CacheBackendParts) {
    super(parts);
    this.#parts = parts;
    this.history = new CacheHistory({
      ...parts,
      write: (key, call, write) => this.#writeTo(key, call, write),
      get: (key, call) => this.get({ key, last: 'all' }, call),
    });
  }

  async open(call: Call): Promise<void> {
    await this.backend.open(call);
  }

  keepsOperations(): boolean {
    return false;
  }

  /** Runs a local write, and waits for the remote if the option `write` is `'through'`. */
  #write<T>(
    key: CacheKey,
    call: Call,
    run: (backend: StorageBackend, storage: CacheStorage) => T | Promise<T>,
    creation?: CreateWrite,
  ): Promise<T> {
    let storage!: CacheStorage;
    const work = (): Promise<T> => {
      storage = new CacheStorage(this.#parts, creation);
      return Promise.resolve(run(new StorageBackend(storage), storage));
    };
    return this.#send(key, call, work, () => storage.numbers);
  }

  /** Runs a write of operations. */
  #writeTo<T>(
    key: CompositeSessionKey,
    call: Call,
    write: (transaction: CacheTransaction, note: (number: number) => void) => Promise<T>,
  ): Promise<T> {
    let numbers: number[] = [];
    const work = (): Promise<T> =>
      this.#parts.data.write((transaction) => {
        numbers = [];
        return write(transaction, (number) => numbers.push(number));
      });
    return this.#send(key, call, work, () => numbers);
  }

  async #send<T>(
    key: CacheKey,
    call: Call,
    work: () => Promise<T>,
    numbersOf: () => readonly number[],
  ): Promise<T> {
    const { bounds, sender, isThrough } = this.#parts;
    if (isSession(key)) await this.history.forked(key);
    const result = await bounds.write(isSession(key) ? key : undefined, work);
    const numbers = numbersOf();
    if (isSession(key)) bounds.markUsed(key);
    if (numbers.length === 0) return result;
    sender.wakeForWrite();
    if (isThrough) await sender.confirm(key, numbers, call.signal);
    return result;
  }

  write<Kind extends StoredKind>(write: Placed<Kind>, call: Call): MaybePromise<Results[Kind]> {
    return runWrite(this, write, call);
  }

  create(write: CreateWrite, call: Call): Promise<CreatedSession | undefined> {
    return this.#write(write.key, call, (backend) => backend.create(write, call), write);
  }

  async describe(write: DescribeWrite, call: Call): Promise<boolean> {
    await this.#require(write.key, call);
    return this.#write(write.key, call, (backend) => backend.describe(write, call));
  }

  async append(write: PlacedAppend, call: Call): Promise<Appended> {
    const { key, position } = write;
    // Without a handle the session may be unknown here.
    if (!(position.created >= 0)) await this.#require(key, call);
    const append = () => this.#write(key, call, (backend) => backend.append(write, call));
    try {
      return await append();
    } catch (error) {
      if (!isSessionError(error, 'not_found') || !(await this.#isGivenUp(key))) throw error;
      await this.#require(key, call);
      return append();
    }
  }

  #isGivenUp(key: CompositeSessionKey): Promise<boolean> {
    return this.#parts.data.read(
      async (transaction) => (await transaction.copies.givenUp(key)) !== undefined,
    );
  }

  /**
   * Fetches a session that has no copy, so that it can be changed. If the remote does not answer in time, the change is
   * stored all the same; see {@link standIn}.
   */
  async #require(key: CompositeSessionKey, call: Call): Promise<void> {
    const { data, fetch, clock, readTimeoutMs } = this.#parts;
    await this.history.forked(key);
    const isThere = await data.read(
      async (transaction) =>
        (await transaction.view(key)) !== undefined ||
        (await transaction.copies.get(key)) !== undefined,
    );
    if (isThere) return;
    try {
      if (await endsWithin(readTimeoutMs, fetch.require(key, 1), call.signal)) return;
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
    await data.write((transaction) => standIn(transaction, key, clock()));
  }

  update(write: UpdateWrite, call: Call): Promise<SharedRevisions> {
    const { key, delta } = write;
    return this.#write(storageKey(key), call, (backend, storage) => {
      // The operation has the whole delta of the caller, including values that are stored already.
      const compute = (state: string): Computed => {
        const computed = typeof delta === 'string' ? { delta } : delta(state);
        storage.delta = computed.delta;
        return computed;
      };
      return backend.update({ ...write, delta: compute }, call);
    });
  }

  delete(write: DeleteWrite, call: Call): Promise<Deletion> {
    return this.#write(storageKey(write.key), call, (backend) => backend.delete(write, call));
  }
}
