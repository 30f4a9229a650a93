import type { Description } from '../model/description.js';
import type { Event } from '../model/event/event.js';
import type { StorageCall } from '../model/diagnostic.js';
import type {
  Decide,
  StorageAdapter,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageListRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from './adapter.js';
import type { ChangedRequest, ChangedRows } from './changed_rows.js';
import type { ListTime, TimedPlace } from './list_place.js';
import type { Deleted, Found, Listing, PageRows, Rows, SharedRows } from './rows.js';
import type {
  CreatedSession,
  CreateRequest,
  DeleteRequest,
  SessionStore,
} from './session_store.js';

export const NO_SHARED_ROWS: SharedRows = { user: undefined, app: undefined };

/** The rows of a key with nothing stored. */
export const NO_ROWS: Found = { ...NO_SHARED_ROWS, events: [], changed: [], floor: 0 };

/** The rows of a read for a session's handle. */
export interface BuiltInRows extends Rows {
  /** The parsed events. They belong to the caller alone; `events` is empty then. */
  readonly parsed?: Event[];
}

/** A write as only adapters of this package get it. */
export interface BuiltInWriteRequest extends StorageWriteRequest {
  /**
   * `false`: the `user:` and `app:` keys of the events' deltas change no state. Only for adapters that
   * {@link BuiltInAdapter.createInSteps}.
   */
  readonly sharesState?: boolean | undefined;
}

/** Vertex AI's sessions may expire. Its rows of new sessions have the same member. */
export interface BuiltInDescribeRequest
  extends StorageDescribeRequest, Pick<Description, 'expiry'> {}

/** A deletion. Only adapters that {@link BuiltInAdapter.keepsOperations} get `created`. */
export type BuiltInDeleteRequest = DeleteRequest & StorageCall;

/** A request of sessions ordered by either time. Only adapters of this package get `orderBy` and `after`. */
export interface BuiltInListRequest extends StorageListRequest {
  readonly orderBy?: ListTime | undefined;
  /** Only the sessions that the list has after this place. */
  readonly after?: TimedPlace | undefined;
}

/** An adapter of this package. The events of its reads need no check. */
export interface BuiltInAdapter extends StorageAdapter {
  /**
   * Present if the storage has no transactions: creates a session that begins with events. If the process ends
   * in between, a session with the first events may remain.
   */
  readonly createInSteps?:
    | ((
        store: SessionStore,
        request: CreateRequest,
        ifAbsent: boolean,
      ) => Promise<CreatedSession | undefined>)
    | undefined;
  /**
   * Whether each write applies its {@link StorageCall.operation} once: it fails with `refuseApplied` if it was applied
   * before. A deletion may then have a `created`.
   */
  readonly keepsOperations?: boolean | undefined;
  /**
   * Whether `readPage` reads all events after the place of the page, or after the page. A walk through them then asks
   * for all at once, by an infinite `limit`.
   */
  readonly readsBack?: boolean | undefined;
  append(request: BuiltInWriteRequest, decide: Decide): void | Promise<void>;
  describe(request: BuiltInDescribeRequest): boolean | Promise<boolean>;
  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): boolean | Deleted | Promise<boolean | Deleted>;
  /** Like `read`, for callers that want parsed events instead of JSON text. */
  readParsed(request: StorageReadRequest): BuiltInRows | Promise<BuiltInRows>;
  readPage(request: StoragePageRequest): PageRows | Promise<PageRows>;
  /** Returns the floor {@link NOT_DELETED} if the session was not created at the request's `created`. */
  delete(request: BuiltInDeleteRequest): Deleted | void | Promise<Deleted | void>;
  list(request: BuiltInListRequest): Listing | Promise<Listing>;
  /** Absent if the storage cannot tell what was changed. */
  readonly changedSince?:
    ((request: ChangedRequest) => ChangedRows | Promise<ChangedRows>) | undefined;
  /** Opens the storage, or asks whether it still answers. */
  open(call: StorageCall): Promise<void>;
  /** Set by the service before the first verb: called if a pool loses a connection that no call uses. */
  onConnectionLost?: ((error: unknown) => void) | undefined;
  /**
   * Called when the service begins to close. Requests that a server leaves unanswered should end
   * soon. `close` follows when all calls have settled, or after `timeoutMs`.
   */
  closing?(timeoutMs?: number): void;
}
