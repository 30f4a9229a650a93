/** The requests of a {@link Storage}. */
import type { MutationId, StorageCall } from '../../values/model/diagnostic.js';
import type { StoredScope } from '../../values/state/scope.js';
import type { ListTime, TimedPlace } from './list_place.js';
import type { Changes, Found, StorageKey } from './rows.js';

/** The request of a write: the rows that the decision needs. */
export interface StorageWriteRequest extends StorageCall {
  /**
   * Which write this is, for a storage that keeps mutations: it applies each write once. Any other storage
   * ignores it.
   */
  readonly mutation?: MutationId | undefined;
  /** The key of a session. For `append` also the key of a user or an app, to change its state alone. */
  readonly key: StorageKey;
  /**
   * The states that the write changes or returns. {@link Found.session} is always returned; without
   * `'session'` here only its `state` is not needed. A later version may ask for another scope: fail
   * if the storage does not know it.
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
   * since 1970. Most storages ignore it. A storage whose revisions are times can choose
   * {@link Found.floor} by it. Absent or 0: not known.
   */
  readonly lastUpdateTime?: number;
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

/** One write of `appendMany`. */
export interface StorageWrite {
  /** What the decision needs. */
  readonly request: StorageWriteRequest;
  /** Computes the changes. */
  readonly decide: Decide;
}

/** The request of a read: a session with a window of its events, or the state of a user or an app. */
export interface StorageReadRequest extends StorageCall {
  /** The session, user or app to read. */
  readonly key: StorageKey;
  /** Which of the events to return. */
  readonly window: {
    /** Only the last so many events of those that pass the others. Absent: all. */
    readonly last?: number;
    /** Only events whose `timestamp` in milliseconds is this or later. Absent: all. */
    readonly after?: number;
    /**
     * Only events whose `revision` is later, as {@link Found.changed} has them. Comes with `last` and without `after`.
     */
    readonly since?: number;
  };
}

/** The request of a page of a session's events. */
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

/** The request to read events of a session by their ids. */
export interface StorageEventsRequest extends StorageCall {
  /** The key of the session. */
  readonly key: Required<StorageKey>;
  /** The ids, at most 100, each once. */
  readonly eventIds: readonly string[];
}

/** Asks for a session's markers: the events that change which other events belong to its view. */
export interface StorageMarkersRequest extends StorageCall {
  /** The key of the session. */
  readonly key: Required<StorageKey>;
  /** The id of an event to return too, if it is stored. Its place among the markers tells which of them precede it. */
  readonly eventId?: string;
  /** An invocation whose first event is returned too, if it has one. */
  readonly invocationId?: string;
}

/**
 * The request of a list of sessions: those of an app, or of one of its users. All other members are for a storage with
 * `listsParts`; it returns that part of the list. Sessions are ordered by a time, ties by `sessionId` and then by
 * `userId`, compared as by JavaScript's `<`. `'desc'` is the exact reverse.
 */
export interface StorageListRequest extends StorageCall {
  /** The app whose sessions are listed. */
  readonly appName: string;
  /** Absent: the sessions of all users. */
  readonly userId?: string;
  /** Ascending or descending. */
  readonly order: 'asc' | 'desc';
  /** The time that orders the list. Absent: `lastUpdateTime`. A row without `createTime` has the time 0. */
  readonly orderBy?: ListTime | undefined;
  /** Only the sessions that the list has after this place. No session has to be there. */
  readonly after?: TimedPlace | undefined;
  /** The number of sessions to skip. */
  readonly offset: number;
  /** Absent: all sessions from `offset` on. */
  readonly limit?: number;
  /**
   * `false` if {@link Listing.total} is not needed, so that the storage need not count. Absent: it
   * is needed.
   */
  readonly withTotal?: false;
}

/**
 * The request of a deletion. Deleting something that is not stored is not an error. Fail if
 * the storage does not know `what`: a later version may delete something else.
 */
export type StorageDeleteRequest = StorageCall &
  Pick<StorageWriteRequest, 'mutation'> &
  (
    | {
        /** One session with its events. */
        readonly what: 'session';
        /** The key of the session. */
        readonly key: Required<StorageKey>;
        /**
         * Deletes only the session that was created at this revision. Only for a storage that `keepsMutations`.
         *
         * @internal
         */
        readonly created?: number | undefined;
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
  );

/** The request to delete a session with its events, if it is still as it was listed. */
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
 */
export interface StorageDescribeRequest extends StorageCall, Pick<StorageWriteRequest, 'mutation'> {
  /** The key of the session. */
  readonly key: Required<StorageKey>;
  /** The new title. */
  readonly title?: string | undefined;
  /** JSON text of the new labels. */
  readonly labels?: string | undefined;
}
