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
 * | basis | of an operation: what this device knew of the session when it was made |
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
 * | run | the work of the remote's agent on a message. An operation may ask for a run, or wait for the end of another |
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
 * `records/` has the forms of what is stored, `local_store/` the storages, `data/` one transaction, `overlay/` what readers
 * see, `verbs/` local reads and writes, `copies/` fetches, `sending/` the outbox on its way, `tabs/` the other tabs. The folder
 * knows of the remote its store and its feed (`RemoteCore`). It knows no class of services and no user interface.
 */
import type { CompositeSessionKey } from '../../values/model/session.js';
import type {
  BranchesRead,
  HistoryState,
  SessionBranches,
  StateAtRead,
} from '../../core/history_types.js';
import {
  runWrite,
  type Results,
  type Store,
  type StoredKind,
  type WriteVerbs,
} from '../../core/storage/store.js';
import type { Call } from '../../core/call/call.js';
import { isSessionError } from '../../values/errors/errors.js';
import { endsWithin } from '../../core/call/time_limit.js';
import type { Placed, Writes } from '../../core/write.js';
import type { CopyLimits } from './copies/copy_limits.js';
import { CacheHistory } from './cache_history.js';
import { CacheReads, type ReadParts } from './cache_reads.js';
import { type CacheKey, isSession } from './records/cache_key.js';
import { isOutage } from './records/failures.js';
import { LocalWrites, type Written } from './verbs/local_writes.js';
import { standIn } from './data/stand_in.js';
import type { Sender } from './sending/sender.js';

export interface CacheStoreParts extends ReadParts {
  readonly limits: CopyLimits;
  readonly sender: Sender;
  readonly isThrough: boolean;
}

/** The local data as a store. {@link CacheReads} has its reads. A write adds operations, which are sent later. */
export class CacheStore extends CacheReads implements Store {
  readonly traits = { computesHistories: true };
  readonly #history: CacheHistory;
  readonly #parts: CacheStoreParts;
  readonly #writes: LocalWrites;
  readonly #verbs: WriteVerbs;

  constructor(parts: CacheStoreParts) {
    super(parts);
    this.#parts = parts;
    this.#writes = new LocalWrites(parts);
    this.#history = new CacheHistory({
      ...parts,
      write: (key, call, write) => this.#send(key, call, () => parts.data.write(write)),
      get: (key, call) => this.window({ key, last: 'all' }, call),
    });
    const write = <Kind extends StoredKind>(write: Placed<Kind>, call: Call) =>
      this.#write(write, call);
    this.#verbs = {
      ...{ create: write, append: write, describe: write, update: write, delete: write },
      rewind: (write, call) => this.#history.rewind(write, call),
      fork: (write, call) => this.#history.fork(write, call),
    };
  }

  async open(): Promise<void> {
    await this.#parts.data.read(() => undefined);
  }

  /** Runs a local write, and waits for the remote if the option `write` is `'through'`. */
  async #send<T>(key: CacheKey, call: Call, work: () => Promise<Written<T>>): Promise<T> {
    const { limits, sender, isThrough } = this.#parts;
    if (isSession(key)) await this.#history.forked(key);
    const { result, numbers } = await limits.write(isSession(key) ? key : undefined, work);
    if (isSession(key)) limits.markUsed(key);
    if (numbers.length === 0) return result;
    sender.wakeForWrite();
    if (isThrough) await sender.confirm(key, numbers, call.signal);
    return result;
  }

  readonly write: Store['write'] = (write, call) => runWrite(this.#verbs, write, call);

  branches(request: BranchesRead, call: Call): Promise<SessionBranches> {
    return this.#history.branches(request, call);
  }

  stateAt(request: StateAtRead, call: Call): Promise<HistoryState> {
    return this.#history.stateAt(request, call);
  }

  async #write<Kind extends StoredKind>(write: Placed<Kind>, call: Call): Promise<Results[Kind]> {
    const meant: Writes[StoredKind] = write;
    const { kind, key } = meant;
    const run = () => this.#send(key, call, () => this.#writes.run(write, call));
    if (!isSession(key)) return run();
    // Without a handle the session may be unknown here.
    const isUnread = meant.kind === 'append' && meant.position.kind !== 'revision';
    if (isUnread || kind === 'describe') await this.#require(key, call);
    try {
      return await run();
    } catch (error) {
      const mayBeGivenUp = kind === 'append' && isSessionError(error, 'not_found');
      if (!mayBeGivenUp || !(await this.#isGivenUp(key))) throw error;
      await this.#require(key, call);
      return run();
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
    await this.#history.forked(key);
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
}
