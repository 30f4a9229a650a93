import type { Call } from '../../core/call/call.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { endsWithin, untilAborted } from '../../core/call/time_limit.js';
import {
  type ReadPolicy,
  type EventCount,
  isEnough,
  mostOf,
} from '../../values/model/values/read_options.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { Event } from '../../values/model/event/event.js';
import type { StoredEvents } from '../../values/model/event_page.js';
import type {
  ChangedSession,
  ReadResults,
  IdsRequest,
  InfoRequest,
  PageRequest,
  ReadInfo,
  ReadKind,
  ReadPage,
  ReadSession,
  SessionRead,
  SinceRequest,
  WindowRequest,
} from '../../core/read.js';
import type { ListRequest, ReadList, StateRequest } from '../../core/storage/store.js';
import type { CreateWrite } from '../../core/write.js';
import { nextLast } from '../../core/storage/reads/read_plan.js';
import { addSums, type EventSums, sumsOf } from '../../core/storage/reads/session_info.js';
import { parseEventText } from '../../core/storage/stored_events.js';
import type { CacheContext } from './copies/context.js';
import type { CopyFetcher, Fetched, StateFetcher } from './copies/copy_fetcher.js';
import type { CopyLimits } from './copies/copy_limits.js';
import type { Lists } from './copies/lists.js';
import type { RemoteCall } from './copies/remote_connection.js';
import { type FetchedWindow, uncachedData } from './copies/uncached.js';
import type { LocalIds } from './data/local_ids.js';
import type { LocalData } from './data/local_data.js';
import { allowCreation } from './data/provisional_session.js';
import type { CacheKey } from './records/cache_key.js';
import { isFinalRefusal } from './records/failures.js';
import { eventsOf, isOfEvent, isWaiting, type Mutation } from './outbox/mutation.js';
import { type LocalRead, readList, readLocally, readState } from './verbs/local_reads.js';

export interface ReadParts extends CacheContext {
  readonly fetch: CopyFetcher;
  readonly limits: CopyLimits;
  readonly localIds: LocalIds;
  readonly lists: Lists;
  readonly states: StateFetcher;
  readonly reads: ReadPolicy;
  readonly readTimeoutMs: number;
  /** Called with what is read, so that the leading tab follows it. The first call may make this tab the leader. */
  readonly follow: (key: CacheKey) => void;
}

/** What was read of a copy that may have less than was needed. */
interface CopyRead<T> extends LocalRead<T> {
  /** Why the rest could not be fetched. */
  readonly failure?: unknown;
}

/** Reads the local data, and brings it up to date before or after that, as the policy of the read says. */
export class CacheReads {
  readonly #parts: ReadParts;

  constructor(parts: ReadParts) {
    this.#parts = parts;
  }

  async window(request: WindowRequest, call: Call): Promise<ReadSession | undefined> {
    const { key, last, after } = request;
    const need = after === undefined ? (last ?? 'all') : 'all';
    const read = await this.#read({ ...request, kind: 'window' }, need, call);
    return last === 'all' ? requireAll(key, read).result : read.result;
  }

  /** Reads a page. If the number of events is not known here, the remote is asked for it. */
  async page(request: PageRequest, call: Call): Promise<ReadPage | undefined> {
    const page = await this.#page(request, call);
    const { key, withCount } = request;
    if (!withCount || page?.events === undefined || page.eventCount !== undefined) return page;
    let sums: EventSums | 'unknown' | undefined;
    try {
      sums = await this.#sums(key, call, true);
    } catch (error) {
      if (call.signal?.aborted === true || this.#parts.remote.isClosed) throw error;
    }
    if (sums === undefined) return page;
    if (sums === 'unknown') return this.#page(request, call, 'all');
    return { ...page, eventCount: sums.eventCount };
  }

  async #page(request: PageRequest, call: Call, all?: 'all'): Promise<ReadPage | undefined> {
    const { key, direction, eventId, limit } = request;
    const isFirst = direction === 'after' && eventId === undefined;
    // One event more than the page shows whether there are older ones.
    const newest = eventId === undefined ? limit + 1 : 0;
    const need = all ?? (isFirst ? 'all' : newest);
    const { result, part } = await this.#read(
      { ...request, kind: 'page' },
      need,
      call,
      ({ hasOlder }, copiedCount) => copiedCount === 'all' || (need !== 'all' && hasOlder === true),
    );
    if (result === undefined || part.identity === undefined) return result;
    const created = this.#parts.localIds.known(key, request.created, part.identity);
    // The remote has older events than the copy. An empty page has no cursor to continue from.
    const hasOlder = (part.hasOlder && (result.events ?? []).length > 0) || result.hasOlder;
    return { ...result, created, hasOlder };
  }

  /** Reads what a session holds. If the copy lacks events, the remote is asked for their sums. */
  async info(request: InfoRequest, call: Call): Promise<ReadInfo | undefined> {
    const { key } = request;
    const { result, part } = await this.#info(request, call);
    if (result === undefined || part.copiedCount === 'all') return result;
    let sums: EventSums | 'unknown' | undefined;
    try {
      sums = await this.#sums(key, call, false);
    } catch (error) {
      if (isFinalRefusal(error) || call.signal?.aborted === true) throw error;
      throw missingEvents(key, error);
    }
    if (sums === 'unknown') return requireAll(key, await this.#info(request, call, 'all')).result;
    if (sums === undefined) throw missingEvents(key);
    return { ...result, info: { ...result.info, ...sums } };
  }

  #info(request: InfoRequest, call: Call, need: 1 | 'all' = 1): Promise<CopyRead<ReadInfo>> {
    const isAnswered = (_: ReadInfo, copiedCount: EventCount): boolean =>
      need === 1 || copiedCount === 'all';
    return this.#read({ ...request, kind: 'info' }, need, call, isAnswered);
  }

  /**
   * Asks the remote for the sums of all events, and adds those of the unsent ones. `isNumber`: only their number
   * counts.
   */
  async #sums(
    key: CompositeSessionKey,
    call: Call,
    isNumber: boolean,
  ): Promise<EventSums | 'unknown' | undefined> {
    const { data, remote } = this.#parts;
    if (this.#policyOf(call) === 'cache-only') return undefined;
    const sums = await untilAborted(call.signal, remote.sums(key, isNumber));
    if (sums === undefined || sums === 'unknown') return sums;
    const unsent = (await data.mutations(key)).filter(isWaiting).flatMap(addedEvents);
    const { eventCount, bytes, usage } = addSums(sums, sumsOf(unsent));
    return { eventCount, bytes, usage };
  }

  /** Reads what has changed in the copy. The revision in the request is one of the copy. */
  async since(request: SinceRequest, call: Call): Promise<ChangedSession | undefined> {
    const { result } = await this.#read({ ...request, kind: 'since' }, 0, call);
    return result;
  }

  /** Reads a copy. If the remote has events that the copy lacks, the copy is fetched back to them. */
  async ids(request: IdsRequest, call: Call): Promise<StoredEvents | undefined> {
    const { key, eventIds } = request;
    const read = { ...request, kind: 'ids' } as const;
    const { result, part } = await this.#read(read, 1, call, () => true);
    const missing = missingFrom(result?.events ?? [], eventIds);
    const isKnown = part.copiedCount === 'all' || missing.length === 0;
    if (result === undefined || isKnown || this.#policyOf(call) === 'cache-only') return result;
    const asked = this.#parts.remote.request(
      (store, own) => store.read({ kind: 'ids', key, eventIds: missing }, own),
      call,
    );
    const stored = (await untilAborted(call.signal, asked))?.events ?? [];
    if (stored.length === 0) return result;
    const needed = stored.map(({ event }) => event.id);
    const fetched = await this.#read(
      read,
      1,
      call,
      ({ events }, copiedCount) =>
        copiedCount === 'all' || missingFrom(events, needed).length === 0,
    );
    return fetched.result;
  }

  /**
   * Reads something of a session from its copy. While the copy is missing or too short, more is fetched. The read
   * returns what was fetched for it, also if the copy is gone by then. It finds nothing only if the remote has said so.
   *
   * @param need the newest events that the copy should have. If they cannot be fetched, the read returns those of the
   *   copy
   * @param isAnswered whether the result suffices, by the number of the newest events that the copy has, without the
   *   unsent
   */
  async #read<Kind extends ReadKind>(
    request: SessionRead<Kind>,
    need: EventCount,
    call: Call,
    isAnswered = (_: ReadResults[Kind], copiedCount: EventCount): boolean =>
      isEnough(copiedCount, need),
  ): Promise<CopyRead<ReadResults[Kind]>> {
    const { board, data, fetch, follow, limits, remote } = this.#parts;
    const { key } = request;
    const policy = this.#policyOf(call);
    if (policy !== 'cache-only') follow(key);
    let fetched: Fetched | undefined;
    if (policy === 'network-first') fetched = await this.#inTime(fetch.refresh(key, need), call);
    let { creation } = call;
    let isAsked = policy !== 'cache-first' || !board.isOnline;
    for (let lastCount: EventCount = -1; ;) {
      const local = await this.#look(request, call, fetched?.window, isAnswered);
      const { result, part } = local;
      const { copiedCount } = part;
      if (part.mustExist && creation !== undefined) {
        // A session whose copy was evicted stays as it is.
        await data.write((transaction) => allowCreation(transaction, creation as CreateWrite));
        creation = undefined;
        continue;
      }
      if (part.isProvisional && !isAsked) {
        // What is here is only what was written here.
        isAsked = true;
        fetched = await this.#inTime(fetch.require(key, mostOf(need, 1)), call);
        continue;
      }
      if (result !== undefined && isAnswered(result, copiedCount)) {
        if (policy !== 'cache-only') limits.markUsed(key);
        if (policy === 'cache-first' && fetched === undefined) fetch.refreshLater(key);
        return local;
      }
      const hasGrown = result === undefined || !isEnough(lastCount, copiedCount);
      const isAbsent = part.isDeleted || fetched?.isAbsent === true;
      if (policy === 'cache-only' || isAbsent || !hasGrown) return local;
      lastCount = copiedCount;
      remote.ended.throwIfAborted();
      const fetching = fetch.require(key, mostOf(need, nextLast(copiedCount, 2)));
      try {
        // A write meanwhile makes an unknown session known, even if the remote never answers.
        const waited = result === undefined ? data.untilChanged(key, fetching) : fetching;
        fetched = await untilAborted(call.signal, waited);
      } catch (error) {
        const isOffline = !isFinalRefusal(error) && call.signal?.aborted !== true;
        if (result === undefined || !isOffline) throw error;
        // The newest events are better than none.
        return { ...local, failure: error };
      }
    }
  }

  /**
   * Reads a copy. If it does not suffice, reads what was fetched: limits may have deleted the copy, or there is no room
   * for it.
   */
  async #look<Kind extends ReadKind>(
    request: SessionRead<Kind>,
    call: Call,
    fetched: FetchedWindow | undefined,
    isAnswered: (result: ReadResults[Kind], copiedCount: EventCount) => boolean,
  ): Promise<LocalRead<ReadResults[Kind]>> {
    const { data } = this.#parts;
    const local = await this.#readLocally(data, request, call);
    const { result, part } = local;
    const isDone = result !== undefined && isAnswered(result, part.copiedCount);
    if (isDone || part.isDeleted || fetched === undefined) return local;
    const uncached = await uncachedData(this.#parts, request.key, fetched);
    if (uncached === undefined) return local;
    const other = await this.#readLocally(uncached, request, call);
    // It was fetched and is not shown, because its deletion waits.
    if (other.result === undefined) return { result, part: { ...part, isDeleted: true } };
    return isEnough(part.copiedCount, other.part.copiedCount) ? local : other;
  }

  async #readLocally<Kind extends ReadKind>(
    data: LocalData,
    request: SessionRead<Kind>,
    call: Call,
  ): Promise<LocalRead<ReadResults[Kind]>> {
    const { key } = request;
    try {
      const local = await readLocally(data, request, call);
      const { identity } = local.part;
      if (identity !== undefined) this.#parts.localIds.note(key, identity);
      return local;
    } catch (error) {
      if (isDamagedEvent(error)) this.#fetchDamaged(key);
      throw error;
    }
  }

  /** Fetches a copy again that has a damaged event. */
  #fetchDamaged(key: CompositeSessionKey): void {
    const { data, fetch, report } = this.#parts;
    data
      .write(async (transaction) => {
        const record = await transaction.copies.get(key);
        if (record?.copy === undefined) return;
        const copy = { ...record.copy, isStale: true };
        await transaction.copies.put(key, { ...record, copy });
      })
      .then(() => fetch.refresh(key))
      .catch(report);
  }

  async list(request: ListRequest, call: Call): Promise<ReadList> {
    const { data, lists, follow } = this.#parts;
    const { appName, userId } = request;
    const owner = { appName, userId };
    const policy = this.#policyOf(call);
    if (policy !== 'cache-only') {
      follow(owner);
      const isFirst = policy === 'cache-first' && !(await lists.hasList(owner));
      // Without a connection, the copies are all there is.
      await this.#receive(lists.fetch(owner), isFirst, call, isFinalRefusal);
    }
    return readList(data, request, call);
  }

  async state(request: StateRequest, call: Call): Promise<string> {
    const { data, states, follow } = this.#parts;
    const { appName, userId } = request;
    const owner = { appName, userId };
    const policy = this.#policyOf(call);
    if (policy !== 'cache-only') {
      // The feed of a user reports the app's state too. The feed of an app would report the sessions of all users.
      if (userId !== undefined) follow(owner);
      const isFirst = policy === 'cache-first' && !(await states.has(owner));
      await this.#receive(states.fetch(owner), isFirst, call);
    }
    return readState(data, request, call);
  }

  /**
   * Waits for the fetch of a list or a state as the policy says. A failure is reported.
   *
   * @param isFirst whether `'cache-first'` waits too, because nothing was fetched before
   * @param isFatal whether the first read fails with this error
   */
  async #receive(
    fetching: Promise<void>,
    isFirst: boolean,
    call: Call,
    isFatal: (error: unknown) => boolean = () => false,
  ): Promise<void> {
    if (this.#policyOf(call) === 'network-first') return this.#inTime(fetching, call);
    const fetched = fetching.catch((error: unknown) => {
      if (isFirst && isFatal(error)) throw error;
      this.#parts.report(error);
    });
    if (isFirst) await untilAborted(call.signal, fetched);
  }

  /** Waits for a fetch, but not for longer than a read may wait. Without a connection there is the copy. */
  async #inTime<T>(fetching: Promise<T>, call: Call): Promise<T | undefined> {
    const { readTimeoutMs, report } = this.#parts;
    const fetched = fetching.catch((error: unknown) => void report(error));
    const isInTime = await endsWithin(readTimeoutMs, fetched, call.signal);
    return isInTime ? fetched : undefined;
  }

  /**
   * Asks the remote if a read has failed because the local storage cannot be read. It changes nothing that is stored.
   *
   * @throws the error of the read otherwise
   */
  fromRemote<T>(error: unknown, ask: RemoteCall<T>, call: Call): Promise<T> {
    const { remote, report } = this.#parts;
    if (this.#policyOf(call) === 'cache-only' || !isUnreadable(error)) throw error;
    report(error);
    return untilAborted(call.signal, remote.request(ask, call));
  }

  #policyOf(call: Call): ReadPolicy {
    return call.reads ?? this.#parts.reads;
  }
}

/** Returns the events that a mutation adds to an existing session. */
function addedEvents(mutation: Mutation): Event[] {
  if (!isOfEvent(mutation)) return [];
  if (mutation.replaces !== 'nothing') return [];
  return eventsOf(mutation).flatMap(({ text }) => parseEventText(text) ?? []);
}

/** @throws SessionError `connection_lost` if the copy does not have all events */
function requireAll<T>(key: CompositeSessionKey, read: CopyRead<T>): CopyRead<T> {
  const { result, part, failure } = read;
  if (result !== undefined && part.copiedCount !== 'all') throw missingEvents(key, failure);
  return read;
}

/** The error of a read that needs events which are not here. */
function missingEvents({ sessionId }: CompositeSessionKey, cause?: unknown): SessionError {
  const id = JSON.stringify(sessionId);
  const message = `The copy of session ${id} lacks older events, and the remote cannot be asked for them now. Try again when there is a connection.`;
  const fields = { storage: 'cache', missing: 'events', cause } as const;
  return new SessionError('connection_lost', message, fields);
}

/** Returns the ids that none of the events has. */
function missingFrom(events: StoredEvents['events'], ids: readonly string[]): string[] {
  const found = new Set(events.map(({ event }) => event.id));
  return ids.filter((id) => !found.has(id));
}

/** The codes of a local storage that cannot be read. */
const UNREADABLE = ['corrupt_record', 'storage_newer', 'storage_failed', 'storage_unavailable'];

function isUnreadable(error: unknown): boolean {
  return isSessionError(error) && UNREADABLE.includes(error.code) && !isDamagedEvent(error);
}

/** Whether a single event is damaged. The remote cannot stand in: it lacks the unsent events of the session. */
function isDamagedEvent(error: unknown): boolean {
  return isSessionError(error, 'corrupt_record') && error.record?.startsWith('event ') === true;
}
