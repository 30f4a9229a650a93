/// <reference lib="esnext.disposable" preserve="true" />
import type { SharedScope } from '../state/scope.js';
import type { Abortable, CompositeSessionKey } from './session.js';
import type { DataLoss } from './storage_info.js';

/**
 * A session was created (`created`), or events were appended to it (`appended`).
 *
 * Only the newest pending notice of each session is kept. It stays `created` if the
 * session was created meanwhile. Notices of two tabs may arrive out of order, and then the older one is
 * dropped. So the first notice of a session may be `appended`.
 */
export interface SessionNotice extends CompositeSessionKey {
  /** `created`, or `appended` for events. */
  type: 'created' | 'appended';
  /**
   * Increases with each notice of the session, even after the session was deleted and created again. See
   * `SessionService.revisionOf`.
   */
  revision: number;
  /** The shared states that changed too. Watchers of other sessions that show these states get `stateChanged`. */
  scopes: readonly SharedScope[];
}

/** A session was deleted, or, without a `sessionId`, all sessions of the user and the user's state. */
export interface DeletedNotice {
  /** The kind of the notice. */
  type: 'deleted';
  /** The app of the deleted sessions. */
  appName: string;
  /** The user of the deleted sessions. */
  userId: string;
  /**
   * Absent: all of the user's sessions, and the user's state. A watcher of one session always gets that
   * session's id.
   */
  sessionId?: string;
  /**
   * Everything up to this revision is deleted; sessions created later have a higher one. Absent if a storage
   * does not report its floor.
   */
  revision?: number;
}

/** The title or the labels of a session changed. Its revision and its place in lists stay. */
export interface UpdatedNotice extends CompositeSessionKey {
  /** The kind of the notice. */
  type: 'updated';
}

/**
 * The state of a user or of the app changed, or both did. If a watched session changed with it, the notice is that
 * session's, with these scopes in it.
 */
export interface StateChangedNotice {
  /** The kind of the notice. */
  type: 'stateChanged';
  /** The shared states that changed. */
  scopes: readonly SharedScope[];
  /** The app. */
  appName: string;
  /** Absent if only the app's state changed. */
  userId?: string;
}

/**
 * The browser deleted the database, and all its sessions are lost. It is now empty, or holds the data that
 * `onDataLoss` stored. Read all displayed data again.
 */
export interface LostNotice extends DataLoss {
  /** The kind of the notice. */
  type: 'lost';
}

/**
 * Changes may have been missed: read all displayed data again. This notice comes when the page returns from
 * the browser's back/forward cache, when a lost connection to the database was reopened, and when any tab has
 * called `deleteDatabase`.
 */
export interface ResyncNotice {
  /** The kind of the notice. */
  type: 'resync';
}

/** A notice of one change; see {@link Notice}. */
export type ChangeNotice = SessionNotice | DeletedNotice | StateChangedNotice | UpdatedNotice;

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
export type Notice = ChangeNotice | LostNotice | ResyncNotice;

/**
 * Selects the changes to watch: those of one session, of a user, or of an app. Sessions show the state of
 * their user and app, so changes of these states are included.
 */
export interface WatchRequest {
  /** The app to watch. */
  appName: string;
  /** The user to watch; absent: all users of the app. */
  userId?: string | undefined;
  /** Requires `userId`. */
  sessionId?: string | undefined;
}

/** Options for iterating notices. The signal ends the iteration without an error. */
export interface WatchOptions extends Abortable {
  /** Absent: the notices are iterated. */
  onNotice?: undefined;
  /** Absent, as `onNotice`. */
  onEnd?: undefined;
}

/** Options for receiving each notice by a callback instead of iterating. */
export interface ListenOptions extends Abortable {
  /**
   * Called in a microtask after the change. If it throws, the error is reported as uncaught, as for an event
   * listener. It does not affect appends or other watchers.
   */
  onNotice: (notice: Notice) => void;
  /** Called once when the watch has ended, for whatever reason: over HTTP also when a login has expired. */
  onEnd?: (() => void) | undefined;
}

/**
 * An iterator of notices. Leaving the loop ends the watch, and so do `return()` and the end of the block of
 * `await using`.
 */
export interface Notices extends AsyncIterableIterator<Notice>, AsyncDisposable {
  /** Waits for the next notice. `done` once the watch has ended. */
  next(): Promise<IteratorResult<Notice, undefined>>;
  /** Ends the watch. */
  return(): Promise<IteratorResult<Notice, undefined>>;
  /** Returns the iterator itself. */
  [Symbol.asyncIterator](): this;
}

/** Ends a watch with `onNotice`. `await using` calls it at the end of its block. */
export type StopWatching = (() => void) & AsyncDisposable;
