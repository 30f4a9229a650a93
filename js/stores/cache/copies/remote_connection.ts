import { raceSignal } from '../../../core/call/time_limit.js';
import type { Call } from '../../../core/call/call.js';
import { isSessionError, type SessionError } from '../../../values/errors/errors.js';
import { isPlainObject } from '../../../values/json/rules.js';
import type { Event } from '../../../values/model/event/event.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { EventCount } from '../../../values/model/values/read_options.js';
import type { ServerAgent } from '../../../core/core_of.js';
import type { ServiceFeed } from '../../../core/watch/service_feed.js';
import { rewindStarts } from '../../../core/history/rules/marks.js';
import { type EventSums, readInfo } from '../../../core/storage/reads/session_info.js';
import type { ReadSession, RewindStart } from '../../../core/read.js';
import type { Store } from '../../../core/storage/store.js';
import { scopeOf, type StateOwner } from '../../../core/storage/scopes.js';
import { isWaitingForRun } from '../../http/http_errors.js';
import { isOutage, isFinalRefusal, isSignedOut } from '../records/failures.js';
import type { Copy } from '../records/records.js';
import type { StatusBoard } from '../records/status.js';
import type { StateShape } from '../../../values/state/state_shape.js';

/** An event as the remote has it. */
export interface RemoteEvent {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  /** The remote's revision of its last write. Absent: at most that of the session. */
  readonly revision?: number | undefined;
}

/** An event that has changed. */
export interface ChangedEvent extends RemoteEvent {
  readonly revision: number;
  /** The remote's revision of its first append. */
  readonly seq: number;
}

/** What the remote says of a session. */
interface RemoteHead {
  /** `null`: the remote has no revisions. */
  readonly created: number | null;
  /** Without revisions, the time of the last update. */
  readonly revision: number;
  readonly lastUpdateTime: number;
  readonly createTime?: number | undefined;
  readonly title: string;
  /** JSON text. */
  readonly labels: string;
  /** JSON text. Absent if the session has no parent, and in changes. */
  readonly parent?: string | undefined;
  /** With the keys of all scopes. Absent if nothing has changed. */
  readonly state: StateShape | undefined;
  /** Whether there are older events, or may be. */
  readonly hasOlder: boolean;
  /** Where the rewinds among the events start, as far as the remote tells it. */
  readonly rewindStarts?: readonly RewindStart[] | undefined;
}

/** A session with its newest events. */
export interface WholeSession extends RemoteHead {
  readonly since: undefined;
  readonly events: readonly RemoteEvent[];
}

/** A session with the events that have changed after a revision. */
export interface RemoteChanges extends RemoteHead {
  readonly since: number;
  readonly events: readonly ChangedEvent[];
}

/** A session as the remote has it. */
export type RemoteSession = WholeSession | RemoteChanges;

/** Events before those of a copy. */
export type OlderEvents = Pick<WholeSession, 'created' | 'events' | 'hasOlder' | 'rewindStarts'>;

/** A request to the remote. The signal of its call ends it when the cache is closed. */
export type RemoteCall<T> = (store: Store, call: Call) => Promise<T>;

/** What a cache uses of the remote service. */
export interface RemoteCore {
  readonly publisher: ServiceFeed;
  /** Present if the sessions are on a server, which may have an agent. */
  readonly serverAgent: ServerAgent | undefined;
  /** Calls the store once it can be opened. */
  callStore<T>(call: Call, work: (store: Store) => Promise<T>): Promise<T>;
}

export interface RemoteConnectionParts {
  readonly core: RemoteCore;
  readonly board: StatusBoard;
  /** Called when the remote orders to forget the local data. */
  readonly onForget: () => void;
}

/** The remote, and whether it can be reached. */
export class RemoteConnection {
  readonly core: RemoteCore;
  readonly #parts: RemoteConnectionParts;
  readonly #ended = new AbortController();
  #isClosed = false;
  /** Whether this tab's last request failed, and was not refused. */
  #hasFailed = false;

  constructor(parts: RemoteConnectionParts) {
    this.core = parts.core;
    this.#parts = parts;
  }

  /** Fires when the local data is forgotten or the cache is closed, with the reason as an error. */
  get ended(): HostAbortSignal {
    return this.#ended.signal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends all requests, also those to come, because the local data is forgotten or the cache is closed. */
  close(reason: SessionError): void {
    this.#isClosed = true;
    this.#ended.abort(reason);
  }

  /**
   * Asks the remote. Rejects when the local data is forgotten or the cache is closed, also if the remote never answers.
   *
   * @param given the call that the request is for. Its signal does not end the request
   */
  async request<T>(run: RemoteCall<T>, given: Call = {}): Promise<T> {
    const { core } = this.#parts;
    const { signal } = this.#ended;
    let result: T;
    try {
      // With this signal, a request that has not left before `forget` never leaves.
      const call = { ...given, signal };
      const asked = (async () => core.callStore(call, (store) => run(store, call)))();
      result = await raceSignal(signal, asked);
    } catch (error) {
      signal.throwIfAborted();
      this.#noteFailure(error);
      throw error;
    }
    signal.throwIfAborted();
    this.#showAnswer();
    return result;
  }

  /** Notes the failure of a run if it concerns the whole cache: an expired login, or the order to forget. */
  noteRunFailure(error: unknown): void {
    if (this.#isClosed) return;
    if (isSignedOut(error) || isForgetOrder(error)) this.#noteFailure(error);
  }

  #noteFailure(error: unknown): void {
    const { board, onForget } = this.#parts;
    if (isForgetOrder(error)) onForget();
    if (isFinalRefusal(error) || isWaitingForRun(error)) return this.#showAnswer();
    this.#hasFailed = true;
    if (isSignedOut(error)) board.set({ isOnline: true, isSignedOut: true });
    else if (isOutage(error)) board.set({ isOnline: false });
  }

  /**
   * Finds out whether the remote wants another login, after it has ended a watch. It may also refuse the watch alone,
   * so another request has to tell.
   */
  async checkLogin(owner: StateOwner): Promise<void> {
    if (this.#parts.board.isSignedOut) return;
    const request = { scope: scopeOf(owner), ...owner };
    try {
      await this.request((store, call) => store.state(request, call));
    } catch {
      // The status shows what matters.
    }
  }

  #showAnswer(): void {
    const { board } = this.#parts;
    const { isOnline, isSignedOut } = board;
    const isRecovered = this.#hasFailed || !isOnline || isSignedOut;
    this.#hasFailed = false;
    const answered = { isOnline: true, isSignedOut: false, lastSuccess: Date.now() };
    board.set(isRecovered ? { ...answered, lastError: undefined } : answered);
  }

  /** Reads what has changed since the copy, or a whole session if the remote cannot tell. */
  async changes(key: CompositeSessionKey, copy: Copy): Promise<RemoteSession | undefined> {
    const { created, revision: since } = copy;
    const request = { key, since, created: created ?? undefined };
    const changes = await this.request(async (store, call) => {
      const changes = await store.read({ ...request, kind: 'since' }, call);
      const events = copy.hasOlder ? changes?.events?.map(({ event }) => event) : undefined;
      return changes && withStarts(store, key, changes, events, call);
    });
    if (changes === undefined) return undefined;
    const { events, state, title = '', labels = '' } = changes;
    if (events === undefined || changes.created !== created) {
      const size = copy.next - copy.first;
      return this.session(key, copy.hasOlder ? Math.max(size, 1) : 'all');
    }
    const isNews = state !== undefined && changes.revision !== since;
    return {
      created,
      revision: changes.revision,
      lastUpdateTime: changes.lastUpdateTime,
      title,
      labels,
      state: isNews ? (JSON.parse(state) as StateShape) : undefined,
      events: events.map(({ seq, revision, event }) => ({ ...remoteEvent(event), seq, revision })),
      hasOlder: copy.hasOlder,
      since,
      rewindStarts: changes.rewindStarts,
    };
  }

  /** Reads a session with its newest events. */
  async session(key: CompositeSessionKey, last: EventCount): Promise<RemoteSession | undefined> {
    const read = await this.request(async (store, call) => {
      const read = await store.read({ kind: 'window', key, last }, call);
      const isPart = read !== undefined && hasOlderThan(read, last);
      return isPart ? withStarts(store, key, read, read.events, call) : read;
    });
    return read && sessionOf(read, last);
  }

  /**
   * Asks for the sums of all events of a session, or only for their number.
   *
   * @returns `undefined` if there is no session; `'unknown'` if the remote cannot tell
   */
  async sums(
    key: CompositeSessionKey,
    isNumber: boolean,
  ): Promise<EventSums | 'unknown' | undefined> {
    const last = { direction: 'before', eventId: undefined, limit: 1, withCount: true } as const;
    return this.request(async (store, call) => {
      try {
        if (!isNumber) return (await readInfo(store, { key }, call))?.info;
        const page = await store.read({ kind: 'page', key, ...last }, call);
        const { eventCount } = page ?? {};
        return page && (eventCount === undefined ? 'unknown' : { eventCount, bytes: 0, usage: {} });
      } catch (error) {
        if (isSessionError(error, 'unsupported')) return 'unknown';
        throw error;
      }
    });
  }

  /** Reads the events before one; `undefined` if the remote has no pages, or not that event. */
  async older(
    key: CompositeSessionKey,
    eventId: string,
    limit: number,
  ): Promise<OlderEvents | undefined> {
    const page = { key, direction: 'before', eventId, limit, withCount: false } as const;
    const read = await this.request(async (store, call) => {
      try {
        const read = await store.read({ ...page, kind: 'page' }, call);
        return await (read?.hasOlder === true
          ? withStarts(store, key, read, read.events, call)
          : read);
      } catch (error) {
        if (isSessionError(error, 'unsupported')) return undefined;
        throw error;
      }
    });
    if (read?.events === undefined) return undefined;
    const { created, hasOlder = false, rewindStarts } = read;
    return {
      created: created > 0 ? created : null,
      events: read.events.map(remoteEvent),
      hasOlder,
      rewindStarts,
    };
  }
}

function sessionOf(read: ReadSession, last: EventCount): WholeSession {
  const { created, revision, lastUpdateTime, state, events, parent } = read;
  const { title = '', labels = '' } = read;
  return {
    ...remoteRevision(created, revision, lastUpdateTime),
    lastUpdateTime,
    title,
    labels,
    parent,
    state: JSON.parse(state) as StateShape,
    events: events.map(remoteEvent),
    hasOlder: hasOlderThan(read, last),
    since: undefined,
    rewindStarts: read.rewindStarts,
  };
}

/** Whether a session has older events than a read, or may have. */
function hasOlderThan({ events }: ReadSession, last: EventCount): boolean {
  return last !== 'all' && events.length >= last;
}

/** Adds where the rewinds among the events start, unless the store has told it. */
async function withStarts<Read extends Pick<ReadSession, 'rewindStarts'>>(
  store: Store,
  key: CompositeSessionKey,
  read: Read,
  events: readonly Event[] = [],
  call: Call,
): Promise<Read> {
  const known = read.rewindStarts ?? (await rewindStarts(store, key, events, call));
  return { ...read, rewindStarts: known };
}

function remoteEvent(event: Event): RemoteEvent {
  return { id: event.id, timestamp: event.timestamp, text: JSON.stringify(event) };
}

/** Returns the revisions of the remote's session. Without revisions, its time of the last update stands for them. */
export function remoteRevision(
  created: number,
  revision: number,
  lastUpdateTime: number,
): Pick<RemoteSession, 'created' | 'revision'> {
  return created > 0 ? { created, revision } : { created: null, revision: lastUpdateTime };
}

/** Status 410 with the code `forget` in its JSON. */
function isForgetOrder(error: unknown): boolean {
  if (!isSessionError(error, 'remote') || error.status !== 410) return false;
  try {
    const body: unknown = JSON.parse(error.body ?? '');
    return isPlainObject(body) && body.code === 'forget';
  } catch {
    return false;
  }
}
