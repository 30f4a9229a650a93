/**
 * The interface of a store, which a service calls for each of its methods. A store runs the rules
 * over a storage: memory, IndexedDB, or a user's adapter. A storage knows no rules.
 */
import type { ChangesSince } from '../model/changes_since.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { MaybePromise } from '../call/call.js';
import type { Description } from '../model/description.js';
import type { Event } from '../model/event/event.js';
import type { Append, NewSession } from '../wasm/appends.js';
import type { Appended, Compute, SharedRevisions } from '../wasm/protocol.js';
import type { StorageDeleteRequest, StorageDeleteUnchangedRequest } from './adapter.js';
import type { ChangedRequest, ChangedRows } from './changed_rows.js';
import type { ListTime, TimedPlace } from './list_place.js';
import type { EventRow, StorageKey } from './rows.js';
import type { StateOwner } from './scopes.js';

/** The `floor` after a deletion: later revisions are higher. `undefined` if the storage cannot tell. */
export type Floor = number | undefined;

/** In place of a floor: nothing was deleted, because the session is another one or the operation was applied before. */
export const NOT_DELETED = -1;

/**
 * The events of a read, in one of four forms: texts from memory, each with many events joined by commas; rows of a
 * storage; records of IndexedDB, which only `js/read/stored_records.ts` can read; or one array of parsed events.
 * A record has a row's type here, so that only the service over IndexedDB knows it.
 */
export type Fragments = readonly string[] | readonly EventRow[] | readonly [Event[]];

/** The members that every read of a session begins with. */
type SessionHead = [
  created: number,
  revision: number,
  lastUpdateTime: number,
  state: string,
  fragments: Fragments,
];

/** A session that was read; see `session_to_javascript` in `src/wasm/bindings/values.rs`. */
export type ReadSession = [...SessionHead, title?: string | undefined, labels?: string | undefined];

/** A session that was created, without events, and the new revisions of user and app state. */
export type CreatedSession = [...SessionHead, ...SharedRevisions];

/** A session in a list. Of a damaged one any number may be `NaN`, and the state empty. */
export interface ListedSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly created: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
  readonly createTime: number | undefined;
  /** The JSON object of the session's own state. */
  readonly state: string;
  readonly title: string | undefined;
  readonly labels: string | undefined;
  /** Whether the session cannot be read. A damaged state is found when it is parsed. */
  readonly isDamaged: boolean;
}

/**
 * JSON objects: the app's state, then pairs of a user's id and state. Their keys have no prefix.
 */
export type SharedStates = readonly [app: string | undefined, ...pairs: string[]];

/** A page of a list of sessions. */
export type ReadList = [
  sessions: ListedSession[],
  /** The number of sessions on all pages; any number if it was not requested. */
  totalItems: number,
  shared: SharedStates,
];

/** The requested page of a list of sessions, in the numbers that the caller gave. */
export interface ListPageRequest {
  readonly limit: number | undefined;
  readonly page: number | undefined;
  readonly withTotal: boolean;
  readonly orderBy: ListTime;
  /** Only the sessions that the list has after this place. `limit` is then given. */
  readonly after?: TimedPlace | undefined;
  /** The title and the labels that the sessions must have. Only a server filters by them itself. */
  readonly description?: Pick<Description, 'title' | 'labels'> | undefined;
}

/** A session to create. */
export type CreateRequest = NewSession & StorageCall;

/** The page of events to read. The caller gave `limit`. */
export interface EventPageRequest {
  /** Whether the page has the first events after `eventId`, or of all; else the last ones. */
  readonly isForward: boolean;
  readonly eventId: string | undefined;
  readonly limit: number | undefined;
  readonly withCount: boolean;
  /**
   * Whether the caller reads on to the end. The page may then have more events than `limit`, if the storage has to
   * read them in any case.
   */
  readonly isToEnd?: boolean;
}

/**
 * A page of events and its session; see `page_to_javascript` in `src/wasm/bindings/values.rs`. Only `created` if
 * no event has the id that was asked for.
 */
export type ReadEvents = [
  created: number,
  fragments?: Fragments,
  hasOlder?: boolean,
  first?: string | undefined,
  last?: string | undefined,
  count?: number | undefined,
  createTime?: number | undefined,
  lastUpdateTime?: number,
  initialState?: string | null | undefined,
  title?: string | undefined,
  labels?: string | undefined,
];

/** A change of the title and the labels of a session. */
export interface DescribeRequest extends Description, StorageCall {
  readonly key: Readonly<Required<StorageKey>>;
}

/** Events to append to one session, all or none. */
export interface AppendRequest extends Append, StorageCall {
  /** Computes the delta of the only event from the stored state, and replaces the event in `events`. */
  readonly compute?: Compute | undefined;
  /** See `BuiltInWriteRequest`. */
  readonly sharesState?: boolean | undefined;
}

/** A deletion. */
export type DeleteRequest = StorageDeleteRequest & {
  /** Deletes a session only if it was created at this revision. Otherwise nothing happens. */
  readonly created?: number | undefined;
};

/**
 * Sessions, their states and events, in any storage. The service calls it with names that it has checked. The
 * store in memory answers without a promise.
 *
 * Each method fails with a `SessionError`. If the signal fires before the commit begins, a write fails with
 * `aborted`, unless an adapter ignores the signal.
 */
export interface SessionStore {
  /**
   * Whether the storage applies each {@link StorageCall.operation} once. If a server holds it: known after `open`.
   */
  readonly keepsOperations?: boolean | undefined;

  /** Opens the storage, if there is anything to open. If a server holds it, asks whether it answers. */
  open(call: StorageCall): MaybePromise<void>;

  /**
   * Creates a session with its events. If the key is taken, the call returns `undefined` (`ifAbsent`) or fails
   * with `already_exists`.
   */
  create(request: CreateRequest, ifAbsent: boolean): MaybePromise<CreatedSession | undefined>;

  /** Changes the title and the labels of a session. Returns whether the session exists. */
  describe(request: DescribeRequest): MaybePromise<boolean>;

  /**
   * Reads a session with its `last` newest events of those at or after the time `after` (ms).
   * Without either: all.
   */
  get(
    key: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    call: StorageCall,
  ): MaybePromise<ReadSession | undefined>;

  /** Reads a page of a session's events; `undefined` if there is no session. */
  page(
    key: Required<StorageKey>,
    page: EventPageRequest,
    call: StorageCall,
  ): MaybePromise<ReadEvents | undefined>;

  /**
   * Reads what has changed in a session; see `ListChangesRequest`. Absent: the service asks `get` and `append`.
   */
  readonly readChanges?: (
    key: Required<StorageKey>,
    since: number,
    created: number | undefined,
    call: StorageCall,
  ) => Promise<ChangesSince | undefined>;

  /**
   * Lists a page of a user's sessions; without `userId` of all sessions of the app. May return more than
   * `limit` sessions after a place, if the storage has to read all of them in any case.
   */
  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    page: ListPageRequest,
    call: StorageCall,
  ): MaybePromise<ReadList>;

  /** Finds what was changed in an app. Absent if other programs cannot change the storage, or it cannot tell. */
  readonly changedSince?: ((request: ChangedRequest) => Promise<ChangedRows>) | undefined;

  append(request: AppendRequest): MaybePromise<Appended>;

  /**
   * Appends to different sessions in one transaction. Any of the promises may reject although its append alone
   * would succeed; the caller then appends alone. `undefined` if the storage has no such transaction.
   */
  readonly appendMany?:
    ((requests: readonly AppendRequest[]) => readonly Promise<Appended>[]) | undefined;

  /**
   * Changes the states of a user and an app. `delta` is a JSON object whose keys have their prefixes, or a
   * function that computes it from the stored state.
   */
  update(
    appName: string,
    userId: string | undefined,
    delta: string | Compute,
    call: StorageCall,
  ): MaybePromise<SharedRevisions>;

  /** Returns a shared state as JSON. The keys have no prefix. */
  sharedState(owner: StateOwner, call: StorageCall): MaybePromise<string>;

  delete(request: DeleteRequest, call: StorageCall): MaybePromise<Floor>;

  /**
   * Deletes a session if it has not changed since it was listed. Returns `undefined` if it has changed, or is
   * gone.
   */
  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): MaybePromise<{ readonly floor: Floor } | undefined>;

  /** Frees the store's memory in the wasm. Calls that have begun still finish. */
  free(): void;
}
