/**
 * The interface of a storage: five verbs and five optional ones. Each is one transaction. A storage holds no
 * rules: `decide` applies them.
 *
 * The rules of an adapter, their numbers and allowed exceptions are in `docs/writing_an_adapter.md`.
 *
 * @module
 */
import type { StorageCall } from '../model/diagnostic.js';
import type { StoredScope } from '../state/scope.js';
import type { ListPlace } from './list_place.js';
import type { Changes, Deleted, Found, Listing, PageRows, Rows, StorageKey } from './rows.js';

/**
 * The request of a write: the rows that the decision needs.
 *
 * @example
 * ```ts
 * import type { StorageWriteRequest } from 'adk-session-wasm/storage';
 *
 * function touchesApp(request: StorageWriteRequest): boolean {
 *   return request.scopes.includes('app');
 * }
 * ```
 */
export interface StorageWriteRequest extends StorageCall {
  /**
   * The key of a session. For `append` also the key of a user or an app, to change its state alone.
   */
  readonly key: StorageKey;
  /**
   * The states that the write changes or returns. {@link Found.session} is always returned; without
   * `'session'` here only its `state` is not needed. A later version may ask for another scope: fail
   * if the adapter does not know it.
   */
  readonly scopes: readonly StoredScope[];
  /** Ids to look up among the session's stored events. */
  readonly eventIds: readonly string[];
  /**
   * Asks also for the session's events with a later `revision`. `Number.MAX_SAFE_INTEGER` asks for
   * none.
   */
  readonly since: number;
  /**
   * The `lastUpdateTime` that the session gets unless its stored one is later, in milliseconds
   * since 1970. Most adapters ignore it. A storage whose revisions are times can choose
   * {@link Found.floor} by it. Absent or 0: not known.
   */
  readonly lastUpdateTime?: number;
  /**
   * Present if the request only asks what has changed since: `decide` returns `undefined`, so no lock is needed. The
   * most events of {@link Found.changed} that are needed.
   */
  readonly changedLimit?: number;
}

/**
 * Computes the changes of a write from the rows that were read. Returns `undefined` if there is
 * nothing to write. Pure and synchronous.
 *
 * @example
 * ```ts
 * import type { Decide, Found } from 'adk-session-wasm/storage';
 *
 * function write(found: Found, decide: Decide): void {
 *   const changes = decide(found);
 *   if (changes === undefined) return;
 *   // Put changes.session, changes.user, changes.app and changes.events in their places.
 * }
 * ```
 */
export type Decide = (found: Found) => Changes | undefined;

/**
 * One write of {@link StorageAdapter.appendMany}.
 *
 * @example
 * ```ts
 * import type { StorageWrite } from 'adk-session-wasm/storage';
 *
 * function sessionIds(writes: readonly StorageWrite[]) {
 *   return writes.map(({ request }) => request.key.sessionId);
 * }
 * ```
 */
export interface StorageWrite {
  /** What the decision needs. */
  readonly request: StorageWriteRequest;
  /** Computes the changes. */
  readonly decide: Decide;
}

/**
 * The request of a read: a session with a window of its events, or the state of a user or an app.
 *
 * @example
 * ```ts
 * import type { StorageReadRequest } from 'adk-session-wasm/storage';
 *
 * const last20: StorageReadRequest = {
 *   key: { appName: 'shop', userId: 'ada', sessionId: 's1' },
 *   window: { last: 20 },
 * };
 * ```
 */
export interface StorageReadRequest extends StorageCall {
  /** The session, user or app to read. */
  readonly key: StorageKey;
  /** Which of the events to return. */
  readonly window: {
    /** Only the last so many events of those that pass `after`. Absent: all. */
    readonly last?: number;
    /** Only events whose `timestamp` in milliseconds is this or later. Absent: all. */
    readonly after?: number;
  };
}

/**
 * The request of a page of a session's events.
 *
 * @example
 * ```ts
 * import type { StoragePageRequest } from 'adk-session-wasm/storage';
 *
 * const last20: StoragePageRequest = {
 *   key: { appName: 'shop', userId: 'ada', sessionId: 's1' },
 *   direction: 'before',
 *   limit: 20,
 * };
 * ```
 */
export interface StoragePageRequest extends StorageCall {
  /** The key of the session. */
  readonly key: Required<StorageKey>;
  /**
   * `'before'`: the last events before that with `eventId`, or the last of all. `'after'`: the first events
   * after it, or the first of all.
   */
  readonly direction: 'before' | 'after';
  /** The id of a stored event; it is not itself on the page. */
  readonly eventId?: string;
  /** The most events. */
  readonly limit: number;
  /** `false` if {@link PageRows.eventCount} is not needed. */
  readonly withCount?: false;
}

/**
 * The request of a page of sessions. Sessions are ordered by `lastUpdateTime`, ties by `sessionId`
 * and then by `userId`, compared as by JavaScript's `<`. `'desc'` is the exact reverse.
 *
 * @example
 * ```ts
 * import type { StorageListRequest } from 'adk-session-wasm/storage';
 *
 * const first: StorageListRequest = { appName: 'shop', order: 'desc', offset: 0, limit: 20 };
 * ```
 */
export interface StorageListRequest extends StorageCall {
  /** The app whose sessions are listed. */
  readonly appName: string;
  /** Absent: the sessions of all users. */
  readonly userId?: string;
  /** By `lastUpdateTime`, ascending or descending. */
  readonly order: 'asc' | 'desc';
  /** The number of sessions to skip. */
  readonly offset: number;
  /** Absent: all sessions from `offset` on. */
  readonly limit?: number;
  /**
   * `false` if {@link Listing.total} is not needed, so that the adapter need not count. Absent: it
   * is needed.
   */
  readonly withTotal?: false;
}

/**
 * The request of the sessions that a list has after a place.
 *
 * @example
 * ```ts
 * import type { StorageListAfterRequest } from 'adk-session-wasm/storage';
 *
 * const after = { lastUpdateTime: 1700000000000, sessionId: 's1', userId: 'ada' };
 * const next: StorageListAfterRequest = { appName: 'shop', order: 'desc', after, limit: 20 };
 * ```
 */
export interface StorageListAfterRequest extends Omit<StorageListRequest, 'offset' | 'limit'> {
  /** The place; no session has to be there. */
  readonly after: ListPlace;
  /** The most sessions. */
  readonly limit: number;
}

/**
 * The request of a deletion. Deleting something that is not stored is not an error. Fail if
 * the adapter does not know `what`: a later version may delete something else.
 *
 * @example
 * ```ts
 * import type { StorageDeleteRequest } from 'adk-session-wasm/storage';
 *
 * const forget: StorageDeleteRequest = { what: 'user', key: { appName: 'shop', userId: 'ada' } };
 * ```
 */
export type StorageDeleteRequest = (
  | {
      /** One session with its events. */
      readonly what: 'session';
      /** The key of the session. */
      readonly key: Required<StorageKey>;
    }
  | {
      /** The user's sessions and state. */
      readonly what: 'user';
      /** The key of the user. */
      readonly key: Required<Omit<StorageKey, 'sessionId'>>;
    }
  | {
      /** The user's state alone. */
      readonly what: 'userState';
      /** The key of the user. */
      readonly key: Required<Omit<StorageKey, 'sessionId'>>;
    }
  | {
      /** The app's state alone. */
      readonly what: 'appState';
      /** The key of the app. */
      readonly key: Pick<StorageKey, 'appName'>;
    }
) &
  StorageCall;

/**
 * The request to delete a session with its events, if it is still as it was listed.
 *
 * @example
 * ```ts
 * import type { SessionRow, StorageDeleteUnchangedRequest } from 'adk-session-wasm/storage';
 *
 * function isUnchanged(row: SessionRow, { revision, labels }: StorageDeleteUnchangedRequest): boolean {
 *   return row.revision === revision && (row.labels ?? '') === (labels ?? '');
 * }
 * ```
 */
export interface StorageDeleteUnchangedRequest extends StorageCall {
  /** The key of the session. */
  readonly key: Required<StorageKey>;
  /** The revision that the session must have. */
  readonly revision: number;
  /** The labels that the session must have, as `list` returned them. Absent: none. */
  readonly labels?: string | undefined;
}

/**
 * The request to change the title and the labels of a session. An absent member stays as it is. An empty text
 * removes it.
 *
 * @example
 * ```ts
 * import type { StorageDescribeRequest } from 'adk-session-wasm/storage';
 *
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const rename: StorageDescribeRequest = { key, title: 'Green tea' };
 * ```
 */
export interface StorageDescribeRequest extends StorageCall {
  /** The key of the session. */
  readonly key: Required<StorageKey>;
  /** The new title. */
  readonly title?: string | undefined;
  /** JSON text of the new labels. */
  readonly labels?: string | undefined;
}

/**
 * A storage of your own. Its rules are in `docs/writing_an_adapter.md`; the suite in
 * `adk-session-wasm/testing` checks them. A verb may return its result or a promise. The service
 * calls verbs while others run: the adapter locks or queues.
 *
 * A verb may throw. A `SessionError` reaches the caller unchanged, everything else becomes
 * `storage_failed`.
 *
 * @example
 * ```ts
 * import { openSessionService } from 'adk-session-wasm';
 * import type { StorageAdapter } from 'adk-session-wasm/storage';
 *
 * function open(adapter: StorageAdapter) {
 *   return openSessionService({ storage: adapter });
 * }
 * ```
 */
export interface StorageAdapter {
  /** The value of `service.storage.kind`; default `'custom'`. */
  readonly kind?: string;
  /** The value of `service.storage.durable`; default `true`. */
  readonly durable?: boolean;
  /** May be the same function as `append`. It tells that no session is expected. */
  create(request: StorageWriteRequest, decide: Decide): void | Promise<void>;
  /** May be called again for the same append, if the decision needs other rows. */
  append(request: StorageWriteRequest, decide: Decide): void | Promise<void>;
  /**
   * Optional: appends to different sessions in one transaction, so that many appends share one commit. The
   * service calls it for appends that wait at the same time, each to another session. Without it the service
   * calls `append` for each of them, at the same time.
   *
   * The adapter calls the `decide` of each write, one after the other, and writes all changes. The rows for a
   * later `decide` contain what earlier ones changed: two sessions may share a user or an app.
   *
   * A `decide` that returns `undefined` refuses its own write only; it never throws here. If `appendMany` fails,
   * the service calls `append` for each write. It does the same for a write whose `decide` was not called. So an
   * adapter that retries the transaction must fail if it leaves out a write that it has decided before.
   *
   * @example
   * ```ts
   * import type { Decide, StorageWrite, StorageWriteRequest } from 'adk-session-wasm/storage';
   *
   * interface Transaction {
   *   append(request: StorageWriteRequest, decide: Decide): Promise<void>;
   * }
   * declare function inTransaction(work: (transaction: Transaction) => Promise<void>): Promise<void>;
   *
   * function appendMany(writes: readonly StorageWrite[]): Promise<void> {
   *   return inTransaction(async (transaction) => {
   *     for (const { request, decide } of writes) await transaction.append(request, decide);
   *   });
   * }
   * ```
   */
  readonly appendMany?: ((writes: readonly StorageWrite[]) => void | Promise<void>) | undefined;
  /**
   * Optional: changes the title and the labels of a session, and nothing else. Returns whether the session
   * exists. An adapter with this verb also stores the title and the labels of the rows that `create` and `append`
   * write. Without it, sessions have neither: a request with one fails with `unsupported`.
   */
  readonly describe?: ((request: StorageDescribeRequest) => boolean | Promise<boolean>) | undefined;
  /** Returns a session with a window of its events, or the state of a user or an app. */
  read(request: StorageReadRequest): Rows | Promise<Rows>;
  /**
   * Optional: returns a page of a session's events at the cost of what it returns. Without it the service
   * reads all events of the session for each page.
   */
  readPage?(request: StoragePageRequest): PageRows | Promise<PageRows>;
  /** Returns a page of sessions, without their events. */
  list(request: StorageListRequest): Listing | Promise<Listing>;
  /**
   * Optional: returns the sessions that a list has after a place, at the cost of what it returns. Without
   * it the service lists all sessions for each page that begins at a cursor.
   */
  listAfter?(request: StorageListAfterRequest): Listing | Promise<Listing>;
  /** Deletes a session, a user, or a state. May return the floor after it. */
  delete(request: StorageDeleteRequest): Deleted | void | Promise<Deleted | void>;
  /**
   * Optional: deletes a session if its revision and labels are those of the request, in one transaction.
   * Returns `false` if they are others or the session is gone, else `true` or the floor. `deleteSessions`
   * needs it; without it the call fails with `unsupported`.
   */
  readonly deleteUnchanged?:
    | ((request: StorageDeleteUnchangedRequest) => boolean | Deleted | Promise<boolean | Deleted>)
    | undefined;
  /**
   * Called once, after the last service over this adapter was closed and its calls have settled.
   */
  close?(): void | Promise<void>;
}
