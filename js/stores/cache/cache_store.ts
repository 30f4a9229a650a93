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
import type { Call } from '../../core/call/call.js';
import { endsWithin } from '../../core/call/time_limit.js';
import { type ReadKind, type ReadVerbs, runRead } from '../../core/read.js';
import {
  type ListRequest,
  type ReadList,
  type Results,
  runWrite,
  type StateRequest,
  type Store,
  type StoredKind,
  type WriteVerbs,
} from '../../core/storage/store.js';
import type { Placed, Writes } from '../../core/write.js';
import { isSessionError } from '../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { CacheHistory } from './cache_history.js';
import { CacheReads, type ReadParts } from './cache_reads.js';
import { standIn } from './data/stand_in.js';
import { isSession } from './records/cache_key.js';
import { isOutage } from './records/failures.js';
import type { Sender } from './sending/sender.js';
import { LocalWrites } from './verbs/local_writes.js';

export interface CacheStoreParts extends ReadParts {
  readonly sender: Sender;
}

/** The kinds of reads that the remote answers if the local storage cannot be read. Others are about the copy itself. */
const ANSWERED_BY_REMOTE: readonly ReadKind[] = ['window', 'page', 'info', 'ids'];

/** The local data as a store. A write adds operations, which are sent later. */
export class CacheStore implements Store {
  readonly traits = { computesHistories: true };
  readonly #parts: CacheStoreParts;
  readonly #reads: CacheReads;
  readonly #writes: LocalWrites;
  readonly #history: CacheHistory;
  readonly #readVerbs: ReadVerbs;
  readonly #writeVerbs: WriteVerbs;

  constructor(parts: CacheStoreParts) {
    const reads = new CacheReads(parts);
    const history = new CacheHistory({ ...parts, store: this });
    this.#parts = parts;
    this.#reads = reads;
    this.#history = history;
    this.#writes = new LocalWrites(parts);
    this.#readVerbs = {
      window: (request, call) => reads.window(request, call),
      page: (request, call) => reads.page(request, call),
      info: (request, call) => reads.info(request, call),
      ids: (request, call) => reads.ids(request, call),
      since: (request, call) => reads.since(request, call),
      branches: (request, call) => history.branches(request, call),
      stateAt: (request, call) => history.stateAt(request, call),
    };
    const write = <Kind extends StoredKind>(write: Placed<Kind>, call: Call) =>
      this.#write(write, call);
    this.#writeVerbs = {
      ...{ create: write, append: write, describe: write, update: write, delete: write },
      rewind: (write, call) => history.rewind(write, call),
      fork: (write, call) => history.fork(write, call),
    };
  }

  async open(): Promise<void> {
    await this.#parts.data.read(() => undefined);
  }

  readonly read: Store['read'] = async (request, call) => {
    try {
      return await runRead(this.#readVerbs, request, call);
    } catch (error) {
      if (!ANSWERED_BY_REMOTE.includes(request.kind)) throw error;
      return this.#reads.fromRemote(error, (store, own) => store.read(request, own), call);
    }
  };

  async list(request: ListRequest, call: Call): Promise<ReadList> {
    try {
      return await this.#reads.list(request, call);
    } catch (error) {
      return this.#reads.fromRemote(error, (store, own) => store.list(request, own), call);
    }
  }

  async state(request: StateRequest, call: Call): Promise<string> {
    try {
      return await this.#reads.state(request, call);
    } catch (error) {
      return this.#reads.fromRemote(error, (store, own) => store.state(request, own), call);
    }
  }

  readonly write: Store['write'] = (write, call) => runWrite(this.#writeVerbs, write, call);

  async #write<Kind extends StoredKind>(write: Placed<Kind>, call: Call): Promise<Results[Kind]> {
    const meant: Writes[StoredKind] = write;
    const { kind, key } = meant;
    if (!isSession(key)) return this.#store(write, call);
    // Without a handle the session may be unknown here.
    const isUnread =
      meant.kind === 'append' && meant.position.kind !== 'revision' && meant.creation === undefined;
    if (isUnread || kind === 'describe') await this.#require(key, call);
    try {
      return await this.#store(write, call);
    } catch (error) {
      const mayBeGivenUp = kind === 'append' && isSessionError(error, 'not_found');
      if (!mayBeGivenUp || !(await this.#isGivenUp(key))) throw error;
      await this.#require(key, call);
      return this.#store(write, call);
    }
  }

  /** Adds the operations of a write, and begins to send them. */
  async #store<Kind extends StoredKind>(write: Placed<Kind>, call: Call): Promise<Results[Kind]> {
    const { limits, sender } = this.#parts;
    const { key }: Writes[StoredKind] = write;
    if (isSession(key)) await this.#history.forked(key);
    const { result, numbers } = await limits.write(key, () => this.#writes.run(write, call));
    await sender.sendAdded(key, numbers, call.signal);
    return result;
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
