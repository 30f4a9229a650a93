/**
 * A cache keeps copies of a remote service's sessions on this device, and an outbox of the changes that the remote has
 * not confirmed. Reads return the copy with the outbox over it.
 *
 * `records/` has the forms of what is stored, `local_store/` the storages, `data/` one transaction, `overlay/` what readers
 * see, `verbs/` local reads and writes, `copies/` fetches, `sending/` the outbox on its way, `tabs/` the other tabs. The folder
 * knows of the remote its store and its feed (`RemoteCore`). It knows no class of services and no user interface.
 * `ARCHITECTURE.md` has the words.
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
