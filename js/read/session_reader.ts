import type { Event } from '../model/event.js';
import { isId, optionalNumber, requireId } from '../model/ids.js';
import { ownMembers } from '../members/own.js';
import type {
  AppRequest,
  GetSessionRequest,
  ListSessionsPageRequest,
  Session,
  SessionsPage,
} from '../model/session.js';
import type { StateShape } from '../state/state_shape.js';
import type { ReadPage, ReadSession, SessionStore } from '../storage/session_store.js';
import { after, invalid, type MaybePromise, shown } from '../call/call.js';
import type { Handles } from '../handle/handle.js';
import { History, type HistoryOptions } from './history.js';
import { openRecords } from './listed_records.js';
import { parseEvents } from './stored_events.js';

/** What a {@link SessionReader} works with. */
export interface ReaderParts {
  /** Calls the store, no earlier than the wasm is there. */
  readonly call: <T>(
    signal: AbortSignal | undefined,
    call: (store: SessionStore) => MaybePromise<T>,
  ) => MaybePromise<T>;
  readonly handles: Handles;
  /** Default: parses them anew. */
  readonly parseEvents: typeof parseEvents | undefined;
  readonly history: HistoryOptions | undefined;
}

/** Reads sessions and states, and makes handles of what the core gives. */
export class SessionReader {
  readonly #parts: ReaderParts;
  readonly #history: History | undefined;

  /** @throws SessionError `invalid_argument` for a `history` that means nothing */
  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#history = parts.history === undefined ? undefined : new History(parts.history);
  }

  /** Whether a session may come with fewer events than it has, though nobody asked for fewer. */
  get isCapped(): boolean {
    return this.#history !== undefined;
  }

  get<S extends StateShape>(request: GetSessionRequest): MaybePromise<Session<S> | undefined> {
    const { appName, userId, sessionId } = request;
    const config = request.config && ownMembers(request.config);
    requireId('appName', appName);
    requireId('userId', userId);
    const last = optionalNumber('config.numRecentEvents', config?.numRecentEvents);
    const from = optionalNumber('config.afterTimestamp', config?.afterTimestamp);
    if (!isId(sessionId)) return undefined;
    const skipCorrupt = config?.skipCorrupt === true;
    const read = (last: number | undefined): MaybePromise<Session<S> | undefined> => {
      const found = this.#parts.call<ReadSession | undefined>(request.signal, (store) =>
        store.get({ appName, userId, sessionId }, last, from, request.signal),
      );
      return after(
        found,
        (found) =>
          found &&
          this.#handleOf<S>(
            appName,
            userId,
            sessionId,
            found,
            skipCorrupt,
            last === undefined && from === undefined,
          ),
      );
    };
    const isOpen = last === undefined && from === undefined;
    return isOpen && this.#history ? this.#history.read(read, skipCorrupt) : read(last);
  }

  /** A handle on a session that was created, or found in its place. */
  open<S extends StateShape>(
    appName: string,
    userId: string,
    id: string,
    read: ReadSession,
  ): Session<S> {
    const isWhole = this.#history === undefined;
    const session = this.#handleOf<S>(appName, userId, id, read, false, isWhole);
    return this.#history === undefined ? session : this.#history.cut(session);
  }

  /** After an append, where the handle may lack what it answers. */
  recall(session: Session, events: readonly Event[]): MaybePromise<void> {
    const { appName, userId, id: sessionId } = session;
    return this.#history?.recall(session, events, (numRecentEvents) => {
      // One that is damaged is for a read to name: the append is stored.
      const config = { numRecentEvents, skipCorrupt: true };
      return this.get({ appName, userId, sessionId, config });
    });
  }

  list<S extends StateShape>(request: ListSessionsPageRequest): MaybePromise<SessionsPage<S>> {
    const { appName, userId, order = 'asc' } = request;
    requireId('appName', appName);
    if (userId !== undefined) requireId('userId', userId);
    if (order !== 'asc' && order !== 'desc') {
      throw invalid('order', `must be 'asc' or 'desc'; it is ${shown(order)}`);
    }
    const limit = optionalNumber('limit', request.limit);
    const offset = optionalNumber('offset', request.offset);
    const page = optionalNumber('page', request.page);
    const withTotal: unknown = request.withTotal ?? true;
    if (typeof withTotal !== 'boolean') {
      throw invalid('withTotal', `must be a boolean; it is ${shown(withTotal)}`);
    }
    const wanted = { limit, offset, page, withTotal };
    const read = this.#parts.call<ReadPage>(request.signal, (store) =>
      store.list(appName, userId, order === 'desc', wanted, request.signal),
    );
    return after(read, (read) => {
      const [records, ofPage, ofLimit, totalItems, totalPages, shared] = read;
      const sessions = openRecords<S>(records, appName, shared, this.#parts.handles);
      // The core counts to 2^32 - 1 only; what was asked for may be more.
      const position = limit
        ? { page: page ?? Math.floor((offset ?? 0) / limit) + 1, limit }
        : { page: ofPage, limit: withTotal ? ofLimit : sessions.length };
      return { sessions, ...position, ...(withTotal && { totalItems, totalPages }) };
    });
  }

  /** A user's state, or without one the app's. */
  scopeState(
    { appName, signal }: AppRequest,
    userId: string | undefined,
  ): MaybePromise<StateShape> {
    requireId('appName', appName);
    const text = this.#parts.call<string>(signal, (store) =>
      store.scopeState(appName, userId, signal),
    );
    return after(text, (text) => JSON.parse(text) as StateShape);
  }

  #handleOf<S extends StateShape>(
    appName: string,
    userId: string,
    id: string,
    read: ReadSession,
    skipCorrupt: boolean,
    isWhole: boolean,
  ): Session<S> {
    const [created, revision, lastUpdateTime, state, fragments] = read;
    const events = (this.#parts.parseEvents ?? parseEvents)(fragments, id, skipCorrupt);
    const head = [created, revision, lastUpdateTime, state] as const;
    return this.#parts.handles.open<S>(appName, userId, id, head, events, isWhole);
  }
}
