import type { Abortable, CompositeSessionKey } from '../model/session.js';
import type { DataLoss } from '../model/session_service.js';

/**
 * A session changed: it was made (`created`), or events were appended to it.
 *
 * Of changes that were not taken yet, one is left for each session, with the newest revision; it stays
 * `created` if the session was. Notices of two tabs may overtake each other, and an older one is dropped
 * then: an `appended` can be the first that is heard of a session.
 *
 * @example
 * ```ts
 * import type { SessionNotice } from 'adk-session-wasm';
 *
 * function describe({ type, sessionId, revision }: SessionNotice): string {
 *   return `${sessionId} was ${type} at revision ${revision}`;
 * }
 * ```
 */
export interface SessionNotice extends CompositeSessionKey {
  type: 'created' | 'appended';
  /** Grows with each notice of the session, also across its deletion. */
  revision: number;
}

/**
 * A session was deleted, or, where no `sessionId` is named, all that the user had.
 *
 * @example
 * ```ts
 * import type { DeletedNotice } from 'adk-session-wasm';
 *
 * function isGone(notice: DeletedNotice, sessionId: string): boolean {
 *   return notice.sessionId === undefined || notice.sessionId === sessionId;
 * }
 * ```
 */
export interface DeletedNotice {
  type: 'deleted';
  appName: string;
  userId: string;
  /** Absent: all of the user's sessions. Who watches one session is always told its own id. */
  sessionId?: string;
  /**
   * What had this revision or a lower one is gone; what is created later has a higher one. Absent where
   * an adapter does not tell its floor.
   */
  revision?: number;
}

/**
 * The state of a user, or of the app, changed. A session's own state changes with its `appended`.
 *
 * @example
 * ```ts
 * import type { StateChangedNotice } from 'adk-session-wasm';
 *
 * function isHouseRule(notice: StateChangedNotice): boolean {
 *   return notice.scope === 'app';
 * }
 * ```
 */
export interface StateChangedNotice {
  type: 'stateChanged';
  scope: 'user' | 'app';
  appName: string;
  /** Of the scope `'user'`. */
  userId?: string;
  /** The scope's own; it has nothing to do with a session's. Absent as with {@link DeletedNotice}. */
  revision?: number;
}

/**
 * The browser gave the database up, and all sessions that were in it are lost. It is empty, or holds what
 * `onDataLoss` put there: read again what you show.
 *
 * @example
 * ```ts
 * import type { LostNotice, Notice } from 'adk-session-wasm';
 *
 * function isLoss(notice: Notice): notice is LostNotice {
 *   return notice.type === 'lost';
 * }
 * ```
 */
export interface LostNotice extends DataLoss {
  type: 'lost';
}

/**
 * Changes may have gone unheard: read again what you show. It comes when the page returned from the
 * browser's back/forward cache, and when the connection to the database was lost and is there again.
 *
 * @example
 * ```ts
 * import type { Notice, ResyncNotice } from 'adk-session-wasm';
 *
 * function isResync(notice: Notice): notice is ResyncNotice {
 *   return notice.type === 'resync';
 * }
 * ```
 */
export interface ResyncNotice {
  type: 'resync';
}

/** What tells of one change; see {@link Notice}. */
export type ChangeNotice = SessionNotice | DeletedNotice | StateChangedNotice;

/** What goes to all watchers, in other tabs as well. */
export type PublishedNotice = ChangeNotice | LostNotice;

/**
 * What a watcher is told: that something changed, and where. What it is now, a read tells.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, type Notice } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const log = (notice: Notice): void => console.log(notice.type);
 * const stop = service.watch({ appName: 'shop' }, { onNotice: log });
 * stop();
 * ```
 */
export type Notice = PublishedNotice | ResyncNotice;

/**
 * Whose changes are wanted: one session's, all of a user's, or all of an app's. The state of the user
 * and of the app belong to what each session shows, so their changes come as well.
 *
 * @example
 * ```ts
 * import type { WatchRequest } from 'adk-session-wasm';
 *
 * const ada: WatchRequest = { appName: 'shop', userId: 'ada' };
 * ```
 */
export interface WatchRequest {
  appName: string;
  userId?: string | undefined;
  /** Needs `userId`. */
  sessionId?: string | undefined;
}

/**
 * How a watching ends: by the signal, which is no error.
 *
 * @example
 * ```ts
 * import type { WatchOptions } from 'adk-session-wasm';
 *
 * const aMinute: WatchOptions = { signal: AbortSignal.timeout(60_000) };
 * ```
 */
export interface WatchOptions extends Abortable {
  onNotice?: undefined;
}

/**
 * Asks to be called with each notice, rather than to iterate.
 *
 * @example
 * ```ts
 * import type { ListenOptions } from 'adk-session-wasm';
 *
 * const options: ListenOptions = { onNotice: (notice) => console.log(notice.type) };
 * ```
 */
export interface ListenOptions extends Abortable {
  /**
   * Called in a microtask after the change. What it throws is reported as an uncaught error, as with an
   * event listener; no append and no other watcher notices.
   */
  onNotice: (notice: Notice) => void;
}

/**
 * Notices, as they are taken. Leaving the loop ends the watching, and so does `return()`.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, type Notices } from 'adk-session-wasm';
 *
 * const notices: Notices = new InMemorySessionService().watch({ appName: 'shop' });
 * await notices.return();
 * ```
 */
export interface Notices extends AsyncIterableIterator<Notice> {
  next(): Promise<IteratorResult<Notice, undefined>>;
  return(): Promise<IteratorResult<Notice, undefined>>;
  [Symbol.asyncIterator](): this;
}

/**
 * What can be watched: every service of ours over memory, a database or an adapter.
 *
 * @example
 * ```ts
 * import type { BaseSessionService, Watchable } from 'adk-session-wasm';
 *
 * async function follow(service: BaseSessionService & Watchable, signal: AbortSignal) {
 *   for await (const notice of service.watch({ appName: 'shop', userId: 'ada' }, { signal })) {
 *     if (notice.type === 'appended') await service.getSession(notice);
 *   }
 * }
 * ```
 */
export interface Watchable {
  /**
   * Calls `onNotice` from now on, until the signal fires or the service is closed.
   *
   * @returns ends it
   * @throws SessionError `invalid_argument`, `closed`
   */
  watch(request: WatchRequest, options: ListenOptions): () => void;
  /**
   * Tells of changes that are committed from now on, whoever made them: this service, another one of
   * this realm on the same storage, and, with IndexedDB, other tabs. Watch first and read then, and
   * nothing is missed. It listens before anything is asked of it, and until it is ended: by the signal,
   * by leaving the loop, by `return()`, or by closing the service.
   *
   * A reader that falls behind finds one notice for each session and each state, the newest. A tab that
   * dies right after a commit may not have told the others of it; the data is there.
   *
   * @throws SessionError `invalid_argument`, `closed`
   */
  watch(request: WatchRequest, options?: WatchOptions): Notices;
}
