/**
 * The public types of sessions, events and requests, and functions of them that need no store: final responses,
 * automatic titles, snapshots of a caller's event. `event/` has the events, `values/` names with few values, such as
 * views.
 *
 * The types are those of `@google/adk` where it has them. The folder converts nothing: other forms are
 * `js/values/python`.
 */
import type { ComputeDelta, StateDelta, StateShape } from '../state/state_shape.js';
import type { Event, NewEvent } from './event/event.js';
import type { HostAbortSignal } from './host.js';
import type { HistoryView } from './values/read_options.js';

/** A value that JSON can represent. State values are of this type. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** One conversation of one user with one app. A plain object without further members. */
export interface Session<S extends object = StateShape> {
  /** The id of the session. */
  id: string;
  /** The app: any name of yours. */
  appName: string;
  /** The user: your own id of the user. */
  userId: string;
  /**
   * App, user and session state merged, with prefixes. Any key may be absent. Changes made to this
   * object are not stored: `appendEvent` and `updateState` change the state.
   */
  state: { readonly [Key in keyof S]?: S[Key] };
  /** In append order. An event that is pushed is not stored: `appendEvent` stores one. */
  readonly events: Event[];
  /** Milliseconds since 1970. */
  lastUpdateTime: number;
  /** Absent without a title. */
  title?: string;
  /** Absent without labels. */
  labels?: Record<string, string>;
  /** Where the session was forked from. Absent if it is no fork, and in storages that do not store it. */
  parent?: SessionParent;
}

/** Where a session was forked from. The original session may have been deleted since. */
export interface SessionParent {
  /** The id of the original session. Both sessions have the same user. */
  sessionId: string;
  /** The last event that both sessions have. Absent: the new session began without events. */
  eventId?: string;
}

/** The key of one session. */
export interface CompositeSessionKey {
  /** The app: any name of yours. */
  appName: string;
  /** The user: your own id of the user. */
  userId: string;
  /** The id of the session. */
  sessionId: string;
}

/**
 * A request with an optional signal. The call is aborted if the signal fires before the commit
 * began.
 */
export interface Abortable {
  /** Ends the call with `aborted`, if it fires before the commit began. */
  signal?: HostAbortSignal | undefined;
}

/** The request to create a session. */
export interface CreateSessionRequest<S extends object = StateShape> extends Abortable {
  /** The app: any name of yours. */
  appName: string;
  /** The user: your own id of the user. */
  userId: string;
  /** Absent or blank: a fresh UUID v4. */
  sessionId?: string | undefined;
  /** Stored at once, split by scope; `temp:` keys are dropped. */
  state?: Partial<S> | undefined;
  /** 1 to 128 characters, without control characters. */
  title?: string | undefined;
  /** At most 64. A key or value has at most 64 lower-case letters, digits, `_` and `-`. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * A session from elsewhere, as `importSession` and the route of `adk api_server` create it. Every `createSession` takes
 * it.
 */
export interface ImportedSessionRequest<
  S extends object = StateShape,
> extends CreateSessionRequest<S> {
  /**
   * When a session that comes from elsewhere was last updated: milliseconds since 1970, 0 to
   * 253402300799999. Default: now. An append may make it later, never earlier.
   */
  lastUpdateTime?: number | undefined;
  /**
   * The events that the session begins with. They are stored with the session, in one step. Their deltas change
   * `state`, in order. Each event has an id of its own; a missing id or timestamp is filled in, on the given
   * event too. Partial events are not stored. Vertex AI has no transactions: if the process ends during the call,
   * a session with the first events may remain.
   */
  events?: readonly NewEvent[] | undefined;
  /** `'keep'`: the `user:` and `app:` keys of `state` and of the events' deltas are not stored. Default `'apply'`. */
  sharedState?: 'apply' | 'keep' | undefined;
  /**
   * Changes of the state that no event carries. They follow the events' deltas, and are stored in all scopes,
   * with any `sharedState`.
   */
  stateDelta?: StateDelta<S> | undefined;
  /**
   * `'unknown'`: the session may have begun with other values of keys that its events change. So `sessionInfo` has no
   * `initialState`, and a rewind names the keys that it cannot restore. Without this member the session began with
   * `state`. If there are events and no `state`, the initial state is unknown as well.
   */
  initialState?: 'unknown' | undefined;
  /** Where the session was forked from; see {@link Session.parent}. */
  parent?: Readonly<SessionParent> | undefined;
}

/** Changes of a session that make no event: an absent member stays as it is, and `null` removes it. */
export interface SessionChanges {
  /** See {@link CreateSessionRequest.title}. */
  title?: string | null | undefined;
  /** Replaces all labels. See {@link CreateSessionRequest.labels}. */
  labels?: Readonly<Record<string, string>> | null | undefined;
}

/** Selects the events that a read returns. */
export interface GetSessionConfig {
  /**
   * Only the last n events in append order. `'all'`: the whole history, also for a `Runner` that reads less; over a
   * cache that cannot fetch what its copy lacks, the read fails with `connection_lost`.
   */
  numRecentEvents?: number | 'all' | undefined;
  /** Only events with `timestamp >= afterTimestamp` (milliseconds), at any position. */
  afterTimestamp?: number | undefined;
  /** Leaves out events whose stored record cannot be read. By default such an event fails the read. */
  skipCorrupt?: boolean | undefined;
  /** Which events count after rewinds and compactions; see {@link HistoryView}. Default `'raw'`. */
  view?: HistoryView | undefined;
}

/** The request to read a session with some of its events. */
export interface GetSessionRequest extends CompositeSessionKey, Abortable {
  /** Which of the events to return; default: all. */
  config?: GetSessionConfig | undefined;
}

/** The request to delete a session. */
export interface DeleteSessionRequest extends CompositeSessionKey, Abortable {}

/** The revisions of stored events by their ids; `null` for an id that no event may have. */
export type ExpectedEvents = Readonly<Record<string, number | null>>;

/** A request that is refused if the session has changed. */
export interface RevisionCheck {
  /**
   * The revision that the session must have, from `service.revisionOf(session)`. If it has another one, the
   * append fails with `stale_session`, and nothing is written. A retry of events that are stored already
   * succeeds. Absent: any revision.
   */
  expectedRevision?: number | undefined;
  /**
   * The versions of stored events that the append may replace, by id: the `revision` that `getEvents` and `listChanges`
   * return with an event. `null`: no event with this id may be stored. If another version is stored, the append fails
   * with `stale_session` and `actualEvents`, and nothing is written. An event that is stored already with the same
   * content is no conflict. Absent: any version.
   */
  expectedEvents?: ExpectedEvents | undefined;
}

/** The request to append an event through a handle. */
export interface AppendEventRequest<S extends object = StateShape, E extends NewEvent = NewEvent>
  extends RevisionCheck, Abortable {
  /** The handle to append through, which gets the event. */
  session: Session<S>;
  /** The event; the call sets its missing members. */
  event: E;
  /**
   * Lets the server's agent answer the event: the user's message, or answers to calls. The call returns when the event
   * is stored, and the run goes on. If an event with its id is stored already, no run begins, and the call returns that
   * event. Fails with `unsupported` over a service that has no server.
   */
  run?:
    | {
        /** Whether the agent should send partial events of its answers. Default: it should not. */
        readonly streaming?: boolean | undefined;
      }
    | undefined;
}

/** The request to append several events through a handle, all or none. */
export interface AppendEventsRequest<S extends object = StateShape, E extends NewEvent = NewEvent>
  extends RevisionCheck, Abortable {
  /** The handle to append through, which gets the events. */
  session: Session<S>;
  /** The events, in order; the call sets their missing members. */
  events: E[];
}

/**
 * The request to change state. With `sessionId` it appends an event with author `user` to that
 * session. Without `sessionId` it may change only `user:` and `app:` keys.
 */
export interface UpdateStateRequest<S extends object = StateShape> extends Abortable {
  /** The app whose state, or whose sessions, change. */
  appName: string;
  /** Absent: only `app:` keys change. */
  userId?: string | undefined;
  /** Absent: only `user:` and `app:` keys change. */
  sessionId?: string | undefined;
  /**
   * The changed keys with their prefixes; `undefined` and `State.REMOVED` remove a key. Or a function that
   * computes them from the stored state; see `SessionService.updateState`.
   */
  stateDelta: StateDelta<S> | ComputeDelta<S>;
}

/** The key of a user of an app. */
export interface UserRequest extends Abortable {
  /** The app: any name of yours. */
  appName: string;
  /** The user: your own id of the user. */
  userId: string;
}

/** The key of an app. */
export interface AppRequest extends Abortable {
  /** The app: any name of yours. */
  appName: string;
}
