import type { Abortable, CompositeSessionKey } from '../model/session.js';
import type { DataLoss } from '../model/session_service.js';

/**
 * A session was created (`created`), or events were appended to it (`appended`).
 *
 * Only the newest pending notice of each session is kept. It stays `created` if the
 * session was created meanwhile. Notices of two tabs may arrive out of order, and then the older one is
 * dropped. So the first notice of a session may be `appended`.
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
  /** `created`, or `appended` for events. */
  type: 'created' | 'appended';
  /** Increases with each notice of the session, even after the session was deleted and created again. */
  revision: number;
}

/**
 * A session was deleted, or, without a `sessionId`, all sessions of the user.
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
  /** The kind of the notice. */
  type: 'deleted';
  /** The app of the deleted sessions. */
  appName: string;
  /** The user of the deleted sessions. */
  userId: string;
  /** Absent: all of the user's sessions. A watcher of one session always gets that session's id. */
  sessionId?: string;
  /**
   * Everything up to this revision is deleted; sessions created later have a higher one. Absent if an adapter
   * does not report its floor.
   */
  revision?: number;
}

/**
 * The state of a user or of the app changed. A change of a session's own state is reported as `appended`.
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
  /** The kind of the notice. */
  type: 'stateChanged';
  /** Whose state changed. */
  scope: 'user' | 'app';
  /** The app. */
  appName: string;
  /** Only present for the scope `'user'`. */
  userId?: string;
  /**
   * The revision of the scope's state, which is independent of session revisions. Absent if an adapter does
   * not report its floor.
   */
  revision?: number;
}

/**
 * The browser deleted the database, and all its sessions are lost. It is now empty, or holds the data that
 * `onDataLoss` stored. Read all displayed data again.
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
  /** The kind of the notice. */
  type: 'lost';
}

/**
 * Changes may have been missed: read all displayed data again. This notice comes when the page returns from
 * the browser's back/forward cache, and when a lost connection to the database was reopened.
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
  /** The kind of the notice. */
  type: 'resync';
}

/**
 * A notice of one change; see {@link Notice}.
 *
 * @example
 * ```ts
 * import type { ChangeNotice } from 'adk-session-wasm';
 *
 * const changed: ChangeNotice = { type: 'stateChanged', scope: 'app', appName: 'shop' };
 * ```
 */
export type ChangeNotice = SessionNotice | DeletedNotice | StateChangedNotice;

/** A notice that goes to all watchers, in other tabs as well. */
export type PublishedNotice = ChangeNotice | LostNotice;

/**
 * A notice to a watcher: it says that something changed, and where. Read the session or state to get its new
 * content.
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
 * Selects the changes to watch: those of one session, of a user, or of an app. Sessions show the state of
 * their user and app, so changes of these states are included.
 *
 * @example
 * ```ts
 * import type { WatchRequest } from 'adk-session-wasm';
 *
 * const ada: WatchRequest = { appName: 'shop', userId: 'ada' };
 * ```
 */
export interface WatchRequest {
  /** The app to watch. */
  appName: string;
  /** The user to watch; absent: all users of the app. */
  userId?: string | undefined;
  /** Requires `userId`. */
  sessionId?: string | undefined;
}

/**
 * Options for iterating notices. The signal ends the iteration without an error.
 *
 * @example
 * ```ts
 * import type { WatchOptions } from 'adk-session-wasm';
 *
 * const aMinute: WatchOptions = { signal: AbortSignal.timeout(60_000) };
 * ```
 */
export interface WatchOptions extends Abortable {
  /** Absent: the notices are iterated. */
  onNotice?: undefined;
}

/**
 * Options for receiving each notice by a callback instead of iterating.
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
   * Called in a microtask after the change. If it throws, the error is reported as uncaught, as for an event
   * listener. It does not affect appends or other watchers.
   */
  onNotice: (notice: Notice) => void;
}

/**
 * An iterator of notices. Leaving the loop ends the watch, and so does `return()`.
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
  /** Waits for the next notice. `done` once the watch has ended. */
  next(): Promise<IteratorResult<Notice, undefined>>;
  /** Ends the watch. */
  return(): Promise<IteratorResult<Notice, undefined>>;
  /** Returns the iterator itself. */
  [Symbol.asyncIterator](): this;
}

/**
 * A service that can be watched: every service of this package over memory, a database or an adapter.
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
   * Calls `onNotice` for each change from now on, until the signal fires or the service is closed.
   *
   * @returns a function that ends the watch
   * @throws SessionError `invalid_argument`, `closed`
   */
  watch(request: WatchRequest, options: ListenOptions): () => void;
  /**
   * Reports changes that are committed from now on. This service may have made them, another service of this
   * realm on the same storage, or, with IndexedDB, another tab. Call it before you read, so that no change is
   * missed. The watch starts at the call, before the first `next()`. It ends by the signal, by leaving the
   * loop, by `return()`, or when the service is closed.
   *
   * A slow reader gets one notice for each session and each state, the newest. A tab that ends right after a
   * commit may fail to notify the others, although the data is stored.
   *
   * @throws SessionError `invalid_argument`, `closed`
   */
  watch(request: WatchRequest, options?: WatchOptions): Notices;
}
