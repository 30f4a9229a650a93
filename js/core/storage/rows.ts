import type { SharedScope } from '../../values/state/scope.js';

/**
 * The key of an app, a user or a session. A user's key has no `sessionId`, an app's key has no
 * `userId` either. An id is 1 to 512 bytes of well-formed text with any characters, also `/` and
 * NUL. Ids that differ only in case are different.
 */
export interface StorageKey {
  /** The app. */
  readonly appName: string;
  /** The user; absent in the key of an app. */
  readonly userId?: string;
  /** The session; absent in the key of a user or an app. */
  readonly sessionId?: string;
}

/** The stored state of a user or an app. */
export interface SharedRow {
  /** The revision of the last change; a safe integer. */
  readonly revision: number;
  /** JSON text. */
  readonly state: string;
}

/** The states of the user and the app. Each member is required, so that the compiler names a forgotten one. */
export type SharedRows = Readonly<Record<SharedScope, SharedRow | undefined>>;

/** A stored session without its events. */
export interface SessionRow {
  /** The app of the session. */
  readonly appName: string;
  /** The user of the session. */
  readonly userId: string;
  /** The id of the session. */
  readonly sessionId: string;
  /** The revision at which the session was created. */
  readonly created: number;
  /** The revision of the last change. */
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly lastUpdateTime: number;
  /** JSON text of the session's own state. */
  readonly state: string;
  /** The title; absent or empty without one. Only storages with the verb `describe` store it. */
  readonly title?: string | undefined;
  /** JSON text of the labels; absent or empty without any. Only storages with the verb `describe` store it. */
  readonly labels?: string | undefined;
  /** JSON text of where the session was forked from; absent if it was not. */
  readonly parent?: string | undefined;
  /**
   * Milliseconds since 1970; absent if it is not known. A storage that stores it, and the next member, has both
   * in `sessionInfo`.
   */
  readonly createTime?: number | undefined;
  /** JSON text of the session's own state as it was created; absent if it is not known. */
  readonly initialState?: string | undefined;
}

/** A stored event. */
export interface EventRow {
  /** Unique within its session. */
  readonly id: string;
  /** The sort key of events: the revision at which the event was first appended. */
  readonly seq: number;
  /** The revision at which the event was last written. */
  readonly revision: number;
  /** The event's own timestamp in milliseconds since 1970. */
  readonly timestamp: number;
  /** JSON text of the event. */
  readonly text: string;
}

/**
 * The rows that a write read. A row is `undefined` if it is not stored. Rows of user and app that were not
 * requested may be left out.
 */
export interface Found {
  /** The session, if it is stored. */
  readonly session?: SessionRow | undefined;
  /** The state of the user, if it is stored and was requested. */
  readonly user: SharedRow | undefined;
  /** The state of the app, if it is stored and was requested. */
  readonly app: SharedRow | undefined;
  /** The session's events whose id is in `eventIds`. */
  readonly events: readonly EventRow[];
  /**
   * The session's events whose `revision` is later than `since`, in any order. If programs that
   * know no revisions also write to the storage, add events that may have come since. A handle
   * skips events that it already has.
   */
  readonly changed: readonly EventRow[];
  /**
   * The highest revision that was ever deleted, at first 0. Revisions up to this one are never
   * given again. So a handle of a deleted session cannot write into a new session with the same id.
   */
  readonly floor: number;
}

/**
 * The changes to write: whole rows that replace the stored ones. A row that is `undefined` stays unchanged. A
 * write may hold all four members at once, and happens completely or not at all.
 */
export interface Changes {
  /** The new row of the session. */
  readonly session?: SessionRow | undefined;
  /** The new row of the user's state. */
  readonly user: SharedRow | undefined;
  /** The new row of the app's state. */
  readonly app: SharedRow | undefined;
  /** New events, and those that replace a stored one of the same id. */
  readonly events: readonly EventRow[];
}

/** The rows that a read returned. A row is `undefined` if it is not stored, or if the key does not reach it. */
export interface Rows {
  /** The session, if it is stored. */
  readonly session?: SessionRow | undefined;
  /** The state of the user, if it is stored. */
  readonly user: SharedRow | undefined;
  /** The state of the app, if it is stored. */
  readonly app: SharedRow | undefined;
  /** Ordered by `seq`. */
  readonly events: readonly EventRow[];
}

/** The rows of a key with nothing stored. */
export const NO_ROWS: Found = {
  user: undefined,
  app: undefined,
  events: [],
  changed: [],
  floor: 0,
};

/** A page of a session's events. */
export interface PageRows {
  /** The session, if it is stored. */
  readonly session?: SessionRow | undefined;
  /** Ordered by `seq`, in both directions. Absent if no event of the session has the `eventId`. */
  readonly events?: readonly EventRow[] | undefined;
  /** The number of all events of the session. Leave it out if counting is not cheap. */
  readonly eventCount?: number | undefined;
}

/** The events of a session that were read by their ids. */
export interface FoundEvents {
  /** The session, if it is stored. */
  readonly session?: SessionRow | undefined;
  /** Those of the events that are stored, in any order. */
  readonly events: readonly EventRow[];
}

/** The markers of a session. */
export interface MarkerRows {
  /** The session, if it is stored. */
  readonly session?: SessionRow | undefined;
  /**
   * Ordered by `seq`, each once. Other events among them do no harm.
   * - Markers: the events with `actions.rewindBeforeInvocationId`, with `actions.compaction`, or with `isCompacted`.
   * - The events that tell whether an invocation waits: with a call that may wait, with a response by the user or with
   *   the error code `INVOCATION_ABORTED`, and with `actions.agentState.nodes` or `actions.endOfAgent`. A call may wait
   *   if `longRunningToolIds` names it, or if its name begins with `adk_request_`.
   * - For each `actions.rewindBeforeInvocationId`, the first event with that `invocationId`.
   * - The event of the request's `eventId`.
   * - The first event with the request's `invocationId`.
   */
  readonly events: readonly EventRow[];
}

/** A page of sessions. */
export interface Listing {
  /** The sessions. */
  readonly sessions: readonly SessionRow[];
  /** The stored states of those sessions' users, each user once. */
  readonly users: readonly (SharedRow & {
    /** The user of the state. */
    readonly userId: string;
  })[];
  /** The app's state, if it is stored. */
  readonly app: SharedRow | undefined;
  /**
   * The number of sessions on all pages. Only for `listsParts`, and optional if the request's `withTotal` is `false`.
   */
  readonly total?: number | undefined;
}

/**
 * The optional result of a deletion. A change feed uses its revision to order the deletion among
 * concurrent changes of other services.
 */
export interface Deleted {
  /** The {@link Found.floor} after the deletion. */
  readonly floor: number;
}
