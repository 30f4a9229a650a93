/**
 * A cache keeps copies of a remote service's sessions on this device, and an outbox of the changes that the remote has
 * not confirmed. Reads return the copy with the outbox over it.
 *
 * `records/` has the forms of what is stored, `local_store/` the storages, `data/` one transaction, `overlay/` what
 * readers see, `verbs/` local reads and writes, `copies/` fetches, `sending/` the outbox on its way, `tabs/` the other
 * tabs. The folder knows of the remote its store and its feed (`RemoteCore`). It knows no class of services and no user
 * interface. `ARCHITECTURE.md` has the words.
 */
import type { Call } from '../../core/call/call.js';
import { endsWithin } from '../../core/call/time_limit.js';
import type { HistoriesLoader } from '../../core/history/histories.js';
import { VIEW_PLANS } from '../../core/history/views/read_view.js';
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
import type { ReadyWrite, Writes } from '../../core/write.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { FindRequest, FindResult } from '../../values/model/search.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { CacheHistory } from './cache_history.js';
import { CacheReads, type ReadParts } from './cache_reads.js';
import type { RemoteCall } from './copies/remote_connection.js';
import { type CacheKey, isSession, nameOf } from './records/cache_key.js';
import { errorOf, isOutage } from './records/failures.js';
import { eventsOf, isAskedFor, isOf, type Refusal } from './outbox/mutation.js';
import { takeBack } from './sending/outbox_edits.js';
import type { Sender } from './sending/sender.js';
import { LocalWrites, noRouteError, type Written } from './verbs/local_writes.js';

export interface CacheStoreParts extends ReadParts {
  readonly sender: Sender;
  readonly loadHistories: HistoriesLoader;
}

/** The kinds of reads that the remote answers if the local storage cannot be read. Others are about the copy itself. */
const ANSWERED_BY_REMOTE: readonly ReadKind[] = ['window', 'page', 'info', 'ids'];

/** The local data as a store. A write adds mutations, which are sent later. */
export class CacheStore implements Store {
  readonly traits = { computesHistories: true, views: VIEW_PLANS };
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
    const write = <Kind extends StoredKind>(write: ReadyWrite<Kind>, call: Call) =>
      this.#write(write, call);
    this.#writeVerbs = {
      create: write,
      append: write,
      describe: write,
      update: write,
      delete: write,
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

  /**
   * Lets the remote search. Returns `undefined` if it cannot, or is not to be asked.
   *
   * Gives up when the first attempt fails: the copies answer at once. Further attempts go on, and set `isOnline`.
   *
   * @throws SessionError `connection_lost` if the first attempt fails, or is not answered in time
   */
  async search(request: FindRequest, call: Call): Promise<FindResult | undefined> {
    const { board, remote, readTimeoutMs, reads } = this.#parts;
    if ((call.reads ?? reads) === 'cache-only') return undefined;
    if (board.isOnline) {
      const ask: RemoteCall<FindResult | undefined> = async (store, own) =>
        store.search?.(request, own);
      const found = new Promise<FindResult | undefined>((resolve, reject) => {
        const onRetry = (): void => {
          call.onRetry?.();
          reject(searchError());
        };
        remote.request(ask, { ...call, onRetry }).then(resolve, reject);
      });
      if (await endsWithin(readTimeoutMs, found, call.signal)) return found;
    }
    throw searchError();
  }

  async state(request: StateRequest, call: Call): Promise<string> {
    try {
      return await this.#reads.state(request, call);
    } catch (error) {
      return this.#reads.fromRemote(error, (store, own) => store.state(request, own), call);
    }
  }

  readonly write: Store['write'] = (write, call) => runWrite(this.#writeVerbs, write, call);

  /**
   * Stores a write before the remote is asked anything. If it needs a session of which there is no copy, it then waits
   * for the remote.
   */
  async #write<Kind extends StoredKind>(
    write: ReadyWrite<Kind>,
    call: Call,
  ): Promise<Results[Kind]> {
    const meant: Writes[StoredKind] = write;
    const { key } = meant;
    if (!isSession(key)) return this.#send(key, await this.#store(write, call), call);
    await this.#history.forked(key);
    if (isDecidedByRemote(meant)) await this.#require(key, call);
    const written = await this.#storeIn(key, write, call);
    const mayCreate = meant.kind === 'append' && meant.creation !== undefined;
    if (!mayCreate) await this.#awaitSession(key, written.numbers, call);
    return this.#send(key, written, call);
  }

  async #send<T>(key: CacheKey, { result, numbers }: Written<T>, call: Call): Promise<T> {
    await this.#parts.sender.sendAdded(key, numbers, call.signal);
    return result;
  }

  #store<Kind extends StoredKind>(
    write: ReadyWrite<Kind>,
    call: Call,
  ): Promise<Written<Results[Kind]>> {
    const { key }: Writes[StoredKind] = write;
    return this.#parts.limits.write(key, () => this.#writes.run(write, call));
  }

  /**
   * Stores a write to a session. If that was deleted here, the remote may have a new one: it is fetched, and the write
   * repeated.
   */
  async #storeIn<Kind extends StoredKind>(
    key: CompositeSessionKey,
    write: ReadyWrite<Kind>,
    call: Call,
  ): Promise<Written<Results[Kind]>> {
    try {
      const written = await this.#store(write, call);
      // `describe` returns `false` without a session.
      if (written.result !== false || !(await this.#wasDeleted(key))) return written;
    } catch (error) {
      const isMissing = isUnread(write) && isSessionError(error, 'not_found');
      if (!isMissing || !(await this.#wasDeleted(key))) throw error;
    }
    await this.#require(key, call);
    return this.#store(write, call);
  }

  #wasDeleted(key: CompositeSessionKey): Promise<boolean> {
    return this.#parts.data.read(
      async (transaction) =>
        transaction.deletedAt(key) > 0 && (await transaction.copies.get(key)) === undefined,
    );
  }

  /** Fetches a session that has no copy, unless the remote does not answer in time. */
  async #require(key: CompositeSessionKey, call: Call): Promise<void> {
    const { data, fetch, board, readTimeoutMs } = this.#parts;
    const isThere = await data.read(async (transaction) => {
      const view = await transaction.view(key);
      if (view === undefined) return (await transaction.copies.get(key))?.copy !== undefined;
      return !isAskedFor(view.overlay.creation);
    });
    if (isThere || !board.isOnline) return;
    try {
      await endsWithin(readTimeoutMs, fetch.require(key, 1), call.signal);
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
  }

  /**
   * Waits until the remote has told whether it has the session of a write that needs one, for as long as a read waits;
   * not at all while the cache knows that it is offline.
   *
   * @throws SessionError `not_found`, or why else the remote refuses. The write is then taken back
   */
  async #awaitSession(
    key: CompositeSessionKey,
    numbers: readonly number[],
    call: Call,
  ): Promise<void> {
    const { awaited, board, data, pending, readTimeoutMs, sender } = this.#parts;
    const mutations = pending.mutations(nameOf(key));
    const own = mutations.findLast(({ number }) => number === numbers.at(-1));
    const isDemanding =
      own?.needsSession === true && mutations.some((each) => isOf(each, 'create'));
    if (!isDemanding || !board.isOnline) return;
    for (const number of numbers) awaited.add(number);
    let refusal: Refusal | undefined;
    try {
      const confirmed = sender.confirmSession(key, numbers, call.signal);
      if (!(await endsWithin(readTimeoutMs, confirmed))) return;
      refusal = await confirmed;
    } catch (error) {
      if (isSessionError(error, 'aborted')) throw error;
      // It is stored. Without the remote, and after a close, it is sent later.
      return;
    } finally {
      for (const number of numbers) awaited.delete(number);
    }
    if (refusal === undefined) {
      const isPlain = await data.read(
        async (transaction) => (await transaction.copies.get(key))?.copy?.created === null,
      );
      if (!isPlain || eventsOf(own).length === 0) return;
    }
    await data.write((transaction) => takeBack(transaction, key, numbers));
    if (refusal === undefined) throw noRouteError();
    throw refusal.code === 'not_found' ? sessionNotFound(key.sessionId) : errorOf(refusal);
  }
}

/** Whether a write is an append without a handle that has read the session. */
function isUnread(write: Writes[StoredKind]): boolean {
  return write.kind === 'append' && write.position.kind !== 'revision';
}

/**
 * Whether an append without a read handle depends on the stored session: it computes from it, or may be refused for it.
 */
function isDecidedByRemote(write: Writes[StoredKind]): boolean {
  if (write.kind !== 'append' || write.creation !== undefined || !isUnread(write)) return false;
  const { compute, stale, expectedRevision, expectedEvents } = write;
  return (
    compute !== undefined ||
    stale === 'reject' ||
    expectedRevision !== undefined ||
    expectedEvents !== undefined
  );
}

function searchError(): SessionError {
  return new SessionError('connection_lost', 'The remote cannot be asked to search now.');
}
