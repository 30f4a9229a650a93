import { scopeOf, type StateOwner } from '../../../core/storage/scopes.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { type EventCount, isEnough, mostOf } from '../../../values/model/values/read_options.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { nameOf } from '../records/cache_key.js';
import { isFinalRefusal } from '../records/failures.js';
import { type Copy } from '../records/records.js';
import {
  isAskedFor,
  isNewHere,
  isOf,
  isRefused,
  isSent,
  type Mutation,
} from '../outbox/mutation.js';
import type { CacheContext } from './context.js';
import type { CopyLimits } from './copy_limits.js';
import {
  firstEventId,
  type FetchStart,
  applyOlder,
  applySession,
  applyState,
  leaveUnfetched,
} from './copy_writer.js';
import { forEachOf, GroupedQueue } from './grouped_queue.js';
import type { RemoteSession } from './remote_connection.js';
import type { FetchedWindow } from './uncached.js';

/** The most copies that are brought up to date at once. */
const MOST_AT_ONCE = 8;

/** The least events of a copy that does not have all. */
const SMALLEST_WINDOW = 100;

/** The most events of a page that every remote admits: a handler refuses more. */
const MOST_OF_PAGE = 1000;

export interface FetchParts extends CacheContext {
  readonly limits: CopyLimits;
  readonly states: StateFetcher;
}

interface FetchRequest {
  readonly key: CompositeSessionKey;
  /** The newest events that the copy must have at least. */
  readonly need: EventCount;
  /** Whether the remote is asked also if there is such a copy by then. */
  readonly isRevalidation: boolean;
}

/** What a fetch has found. */
export interface Fetched {
  /** Whether the remote does not have the session. */
  readonly isAbsent: boolean;
  /** The session with its newest events, if these were fetched together. */
  readonly window?: FetchedWindow | undefined;
}

/** The result of a fetch that asked for nothing, or only for changes and older events of a copy. */
const NO_WINDOW: Fetched = { isAbsent: false };

/** Brings copies of sessions up to date with the remote. */
export class CopyFetcher {
  readonly #parts: FetchParts;
  /** The fetches of each session, one after the other. */
  readonly queue = new GroupedQueue<FetchRequest, Fetched>((requests) =>
    this.#run({
      key: requests[0].key,
      need: requests.map(({ need }) => need).reduce(mostOf),
      isRevalidation: requests.some(({ isRevalidation }) => isRevalidation),
    }),
  );

  constructor(parts: FetchParts) {
    this.#parts = parts;
  }

  /**
   * Brings a copy up to date, or makes it. Calls that come before the fetch begins share it.
   *
   * @param need the newest events that the copy must have at least
   */
  refresh(key: CompositeSessionKey, need: EventCount = 0): Promise<Fetched> {
    return this.queue.call(nameOf(key), { key, need, isRevalidation: true });
  }

  /** Brings a copy up to date in a later task, so that the caller's transaction does not wait for another one. */
  refreshLater(key: CompositeSessionKey): void {
    setTimeout(() => void this.refresh(key).catch(this.#parts.report));
  }

  /** Brings copies up to date, several at once. */
  refreshAll(keys: readonly CompositeSessionKey[]): Promise<void> {
    const { ended } = this.#parts.remote;
    return forEachOf(keys, MOST_AT_ONCE, async (key) => {
      ended.throwIfAborted();
      await this.refresh(key);
    });
  }

  /** Makes a copy, or one with more events. Asks nothing if a fetch that was under way has made it. */
  require(key: CompositeSessionKey, need: EventCount): Promise<Fetched> {
    return this.queue.call(nameOf(key), { key, need, isRevalidation: false });
  }

  async #run(request: FetchRequest): Promise<Fetched> {
    for (;;) {
      const fetched = await this.#fetch(request);
      if (fetched !== undefined) return fetched;
      // A copy that was deleted meanwhile is fetched as a whole.
    }
  }

  /** @returns `undefined` if the answer could not be taken */
  async #fetch({ key, need, isRevalidation }: FetchRequest): Promise<Fetched | undefined> {
    const { data, remote } = this.#parts;
    const { ended } = remote;
    const { start, copy, firstId, isUnsent, isNew } = await data.read((transaction) =>
      findStart(transaction, key),
    );
    ended.throwIfAborted();
    if (isUnsent) return NO_WINDOW;
    const size = copy === undefined ? 0 : copy.next - copy.first;
    const isCurrent = copy !== undefined && !copy.isStale;
    let hasEnough = isCurrent && isEnough(copy.hasOlder ? size : 'all', need);
    if (isCurrent && !hasEnough && firstId !== undefined) {
      const missing = need === 'all' ? need : Math.max(need - size, SMALLEST_WINDOW);
      hasEnough = await this.#fetchOlder(key, start, firstId, missing);
    }
    if (hasEnough && !isRevalidation) return NO_WINDOW;
    if (hasEnough && isCurrent && copy.created !== null) {
      const changes = await remote.changes(key, copy);
      if (changes !== undefined && isAsCopied(changes, copy)) return NO_WINDOW;
      return this.#take(key, start, changes);
    }
    // A handle that was read before the copy was deleted may lack any event. One of a session that is new here has
    // none.
    const isWhole = (need === 0 && copy === undefined && !isNew) || copy?.hasOlder === false;
    const last = isWhole || need === 'all' ? 'all' : Math.max(need, size, SMALLEST_WINDOW);
    return this.#take(key, start, await remote.session(key, last));
  }

  /**
   * Fetches older events page by page, and stores each page.
   *
   * @param firstId the first event of the copy
   * @param missing how many events the copy lacks
   * @returns whether the copy has them now
   */
  async #fetchOlder(
    key: CompositeSessionKey,
    start: FetchStart,
    firstId: string,
    missing: EventCount,
  ): Promise<boolean> {
    const { remote, limits } = this.#parts;
    const { created = null } = start;
    let before = firstId;
    for (let rest = missing; rest === 'all' || rest > 0;) {
      const limit = rest === 'all' ? MOST_OF_PAGE : Math.min(rest, MOST_OF_PAGE);
      const older = await remote.older(key, before, limit);
      if (older?.created !== created) return false;
      const page = { ...older, before };
      const taking = limits.store(key, start.began, (transaction) =>
        applyOlder(transaction, key, page),
      );
      if (!(await this.#unlessFull(taking))) return false;
      const { events, hasOlder } = older;
      const [first] = events;
      if (!hasOlder || first === undefined) return true;
      before = first.id;
      if (rest !== 'all') rest -= events.length;
    }
    return true;
  }

  async #take(
    key: CompositeSessionKey,
    start: FetchStart,
    session: RemoteSession | undefined,
  ): Promise<Fetched | undefined> {
    const { data, limits, clock, states } = this.#parts;
    const window = session?.since === undefined ? session : undefined;
    const taking = limits.store(key, start.began, (transaction) =>
      applySession(transaction, key, session, start, clock()),
    );
    const taken = await this.#unlessFull(taking);
    limits.checkSoon();
    if (taken === undefined && session !== undefined) {
      const leaving = data.write((transaction) => leaveUnfetched(transaction, key, session));
      if (window === undefined) {
        // The session is fetched as a whole, so that it can be read without room. If not even that can be noted, the
        // same changes would be asked for without an end.
        await leaving;
        return undefined;
      }
      await this.#unlessFull(leaving);
    }
    if (taken === 'gone') return undefined;
    await states.fetchOvertaken(taken ?? []);
    return { isAbsent: session === undefined, window: window && { session: window, start } };
  }

  /** Returns what was stored; `undefined` if there is no room for it. A read needs no room. */
  async #unlessFull<T>(storing: Promise<T>): Promise<T | undefined> {
    try {
      return await storing;
    } catch (error) {
      if (!isSessionError(error, 'quota_exceeded')) throw error;
      this.#parts.report(error);
      return undefined;
    }
  }
}

/** Whether a session has not changed since it was copied. */
function isAsCopied(session: RemoteSession, copy: Copy): boolean {
  const { revision, lastUpdateTime, title, labels, state, events } = session;
  const isSame = revision === copy.revision && lastUpdateTime === copy.lastUpdateTime;
  const isDescribed = title === copy.title && labels === copy.labels;
  return isSame && isDescribed && state === undefined && events.length === 0;
}

/**
 * Whether a creation waits to be sent. One with events that was sent without an answer does not: others may have
 * replaced its events meanwhile.
 */
function isToSend(mutation: Mutation<'create'>): boolean {
  const mayBeThere = isAskedFor(mutation) || (isSent(mutation) && mutation.numbers.length > 0);
  return !isRefused(mutation) && !mayBeThere;
}

/** Returns what is here of a session when its fetch begins. */
async function findStart(transaction: CacheTransaction, key: CompositeSessionKey) {
  const record = await transaction.copies.get(key);
  const copy = record?.copy;
  const view = await transaction.view(key);
  // Another one may follow, after a deletion.
  const creation = (await transaction.outbox.of(key)).find((each) => isOf(each, 'create'));
  const isDeleted = view === undefined && record !== undefined && creation === undefined;
  const isCreating = copy === undefined && creation !== undefined && isToSend(creation);
  const start: FetchStart = {
    began: transaction.counter,
    created: copy?.created,
    localId: record?.localId ?? 0,
  };
  return {
    start,
    copy,
    firstId: copy && (await firstEventId(transaction, key, copy)),
    /** Whether a deletion waits to be sent, or a creation whose answer says what the remote has. */
    isUnsent: isDeleted || isCreating,
    isNew: creation !== undefined && isNewHere(creation),
  };
}

/** The error of a remote whose answers contradict each other. */
export function contradictionError({ sessionId }: CompositeSessionKey): SessionError {
  const id = JSON.stringify(sessionId);
  const message = `The remote's answers about session ${id} contradict each other. It is asked again later.`;
  return new SessionError('remote', message, { storage: 'cache' });
}

export interface StateFetcherParts extends CacheContext {
  readonly limits: CopyLimits;
}

/** Brings the states of users and apps up to date with the remote. */
export class StateFetcher {
  readonly #parts: StateFetcherParts;
  /** The fetches of each state, one after the other. */
  readonly queue = new GroupedQueue<StateOwner>(([owner]) => this.#fetch(owner));

  constructor(parts: StateFetcherParts) {
    this.#parts = parts;
  }

  /** Brings a state up to date. Calls that come before the fetch begins share it. */
  fetch(owner: StateOwner): Promise<void> {
    return this.queue.call(nameOf(owner), owner);
  }

  /**
   * As {@link fetch}, unless the remote refuses the request. `adk api_server` shows states only through sessions, and
   * another server may not let the user read the state of the app.
   */
  async fetchShown(owner: StateOwner): Promise<void> {
    await this.fetch(owner).catch((error: unknown) => {
      if (!isFinalRefusal(error)) throw error;
    });
  }

  /** Fetches states again that have changed since a fetch began. */
  fetchOvertaken(owners: readonly StateOwner[]): Promise<void> {
    return forEachOf(owners, owners.length, (owner) => this.fetchShown(owner));
  }

  /** Whether a state was fetched, ever. */
  async has(owner: StateOwner): Promise<boolean> {
    const record = await this.#parts.data.read((transaction) => transaction.states.get(owner));
    return record?.isFetched === true;
  }

  async #fetch(owner: StateOwner): Promise<void> {
    const { remote, limits } = this.#parts;
    for (let isTaken = false; !isTaken;) {
      const began = await beginFetch(this.#parts);
      const text = await remote.request((store, call) =>
        store.state({ scope: scopeOf(owner), ...owner }, call),
      );
      const state = JSON.stringify(JSON.parse(text) as StateShape);
      isTaken = await limits.store(undefined, began, (transaction) =>
        applyState(transaction, owner, state, began),
      );
    }
  }
}

/** Returns the last number that was drawn before a fetch. */
export async function beginFetch({
  data,
  remote,
}: Pick<CacheContext, 'data' | 'remote'>): Promise<number> {
  const { ended } = remote;
  const began = await data.read(({ counter }) => counter);
  ended.throwIfAborted();
  return began;
}
