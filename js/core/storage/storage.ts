/**
 * The interface of a storage: five verbs, and what only some storages can do. A storage holds no rules: `decide`
 * applies them.
 *
 * The rules of a storage, their numbers and allowed exceptions are in `docs/writing_a_storage.md`.
 *
 * @module
 */
import type { StorageCall } from '../../values/model/diagnostic.js';
import type {
  Decide,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageEventsRequest,
  StorageListRequest,
  StorageMarkersRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWrite,
  StorageWriteRequest,
} from './requests.js';
import type { Deleted, FoundEvents, Listing, MarkerRows, PageRows, Rows } from './rows.js';

/**
 * Keeps the rows of sessions. Each verb is one transaction. A verb may return its result or a promise. The service
 * calls verbs while others run: the storage locks or queues.
 *
 * A verb may throw. A `SessionError` reaches the caller unchanged, everything else becomes `storage_failed`.
 *
 * The optional members, the storages of this package that have them, and what happens without them:
 *
 * | member | SQL | Vertex AI | without it |
 * | --- | --- | --- | --- |
 * | `appendMany` | yes | | Each append is a transaction of its own. |
 * | `changedSince` | yes | | A feed does not tell what other programs change. |
 * | `close` | yes | yes | Nothing is closed. |
 * | `closing` | yes | yes | `close` waits for all calls, at most 30 s or `timeoutMs`. |
 * | `deleteUnchanged` | yes | yes | `deleteSessions` fails with `unsupported`. |
 * | `describe` | yes | yes | Titles and labels fail with `unsupported`. |
 * | `durable` | yes | yes | `service.storage.durable` is `true`. |
 * | `kind` | yes | yes | `service.storage.kind` is `'custom'`. |
 * | `listsParts` | yes | yes | `list` returns all sessions, and the service sorts them and cuts the page. |
 * | `open` | yes | yes | `ping` reads the state of an app. |
 * | `readEvents` | yes | | To find events by their ids, and for a rewind, the service reads all events of the session. |
 * | `readMarkers` | yes | | A view of a history with rewinds or compactions, each page of a view, and a rewind read all events of the session. |
 * | `readPage` | yes | yes | The service reads all events of the session for each page and a rewind. |
 *
 * @example
 * ```ts
 * import { openSessionService } from 'adk-session-wasm';
 * import type { Storage } from 'adk-session-wasm/storage';
 *
 * function open(storage: Storage) {
 *   return openSessionService({ storage });
 * }
 * ```
 */
export interface Storage {
  /** The value of `service.storage.kind`. */
  readonly kind?: string;
  /** The value of `service.storage.durable`. */
  readonly durable?: boolean;
  /** May be the same function as `append`. It tells that no session is expected. */
  create(request: StorageWriteRequest, decide: Decide): void | Promise<void>;
  /** May be called again for the same append, if the decision needs other rows. */
  append(request: StorageWriteRequest, decide: Decide): void | Promise<void>;
  /** Returns a session with a window of its events, or the state of a user or an app. */
  read(request: StorageReadRequest): Rows | Promise<Rows>;
  /** Returns the sessions of an app or a user, without their events. With `listsParts`, the part that is asked for. */
  list(request: StorageListRequest): Listing | Promise<Listing>;
  /**
   * Deletes a session, a user, or a state. May return the floor after it. Returns `false` only if the request has a
   * `created` and the session has another one.
   */
  delete(request: StorageDeleteRequest): Deleted | void | false | Promise<Deleted | void | false>;
  /** Called once, after the last service over this storage was closed and its calls have settled. */
  close?(): void | Promise<void>;
  /**
   * Appends to different sessions in one transaction, so that many appends share one commit. The service calls it for
   * appends that wait at the same time, each to another session.
   *
   * The storage calls the `decide` of each write, one after the other, and writes all changes. The rows for a later
   * `decide` contain what earlier ones changed: two sessions may share a user or an app.
   *
   * A `decide` that returns `undefined` refuses its own write only; it never throws here. If `appendMany` fails, the
   * service calls `append` for each write. It does the same for a write whose `decide` was not called. So a storage
   * that retries the transaction must fail if it leaves out a write that it has decided before.
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
  /** Finds what was changed in an app, by whatever program. */
  readonly changedSince?:
    ((request: ChangedRequest) => ChangedRows | Promise<ChangedRows>) | undefined;
  /**
   * Called when the service begins to close. Requests that a server leaves unanswered should end soon. `close` follows
   * when all calls have settled, or after `timeoutMs`.
   */
  closing?(timeoutMs?: number): void;
  /**
   * Deletes a session if its revision and labels are those of the request, in one transaction. Returns `false` if they
   * are others or the session is gone, else `true` or the floor.
   */
  readonly deleteUnchanged?:
    | ((request: StorageDeleteUnchangedRequest) => boolean | Deleted | Promise<boolean | Deleted>)
    | undefined;
  /**
   * Changes the title and the labels of a session, and nothing else. Returns whether the session exists. A storage with
   * this verb also stores the title and the labels of the rows that `create` and `append` write.
   */
  readonly describe?: ((request: StorageDescribeRequest) => boolean | Promise<boolean>) | undefined;
  /** Whether `list` orders the sessions, counts them, and returns only the part that is asked for. */
  readonly listsParts?: boolean;
  /** Opens the storage, or asks whether it still answers. Otherwise the first verb opens it. */
  open?(call: StorageCall): Promise<void>;
  /** Returns events of a session by their ids, at the cost of what it returns. */
  readEvents?(request: StorageEventsRequest): FoundEvents | Promise<FoundEvents>;
  /** Returns the markers of a session without reading all of its events. */
  readMarkers?(request: StorageMarkersRequest): MarkerRows | Promise<MarkerRows>;
  /** Returns a page of a session's events at the cost of what it returns. */
  readPage?(request: StoragePageRequest): PageRows | Promise<PageRows>;
}

// A question to a storage that other programs write to as well: what was changed since a time? It does not tell of
// deletions, titles and labels, nor of changes that carry an earlier time.

/** Which changes of an app to find, by whomever they were made. */
export interface ChangedRequest extends StorageCall {
  /** The app. */
  readonly appName: string;
  /** In milliseconds; the sessions that were changed then or later. Absent: no sessions. */
  readonly since: number | undefined;
  /** The users whose states are wanted beside the app's. */
  readonly users: readonly string[];
}

/** The sessions that were changed, and the shared states as they are. */
export interface ChangedRows {
  /** In any order; `undefined` if there are too many. */
  readonly sessions:
    | readonly {
        /** The user of the session. */
        readonly userId: string;
        /** The id of the session. */
        readonly sessionId: string;
        /** The revision of the session. */
        readonly revision: number;
        /** Whether the session was created since. */
        readonly isNew: boolean;
      }[]
    | undefined;
  /** The app's state, if it has one. */
  readonly app: StateRevision | undefined;
  /** The states of the users who have one. */
  readonly users: ReadonlyMap<string, StateRevision>;
}

/** The revision of a shared state. */
export interface StateRevision {
  /** Grows with each change of the state. */
  readonly revision: number;
  /** Whether the state has no keys. Creations store such states, which is no change. */
  readonly isEmpty: boolean;
}
