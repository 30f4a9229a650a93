/**
 * The interface between the services and what stores sessions. A store runs the rules over memory, IndexedDB, a
 * `Storage`, a server or a cache. It takes a write or a request, and the call that it belongs to.
 */
import type { Call, MaybePromise } from '../call/call.js';
import type { Description } from '../../values/model/description.js';
import type { StorageCall, WriteIdentity } from '../../values/model/diagnostic.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StoredEvent, StoredEvents } from '../../values/model/event_page.js';
import type { SessionInfo } from '../../values/model/session_info.js';
import type { EventCount } from '../../values/model/values/event_count.js';
import type { HistoryView } from '../../values/model/values/history_view.js';
import type { HistoryVerbs, StoredRewind } from '../history_types.js';
import type { SharedScope } from '../../values/state/scope.js';
import type { Placed, PlacedAppend, WriteKind } from '../write.js';
import type { ChangedRequest, ChangedRows } from './changed_rows.js';
import type { ListTime, TimedPlace } from './list_place.js';
import type { StateOwner } from './scopes.js';

/** The new revisions of the shared states that a write changed; 0 for a state that did not change. */
export type SharedRevisions = Readonly<Record<SharedScope, number>>;

export const NO_REVISIONS: SharedRevisions = { user: 0, app: 0 };

/** The members that every result about one session has. */
interface SessionHead {
  /** The revision at which the session was created. NaN: the storage has no revisions. */
  readonly created: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
}

/** The result of a creation. */
export interface CreatedSession extends SessionHead {
  /** The JSON object of the state, with the keys of all scopes. */
  readonly state: string;
  readonly shared: SharedRevisions;
}

/** A session to read, with a window of its events. */
export interface WindowRequest {
  readonly key: CompositeSessionKey;
  /**
   * The number of last events, of those that `after` admits. Absent: all that can be reached; a cache without a
   * connection has fewer. `'all'`: all, or the read fails.
   */
  readonly last?: EventCount | undefined;
  /** Admits only events at or after this time, in milliseconds. Absent: all. */
  readonly after?: number | undefined;
  /** Whether events that cannot be read are left out. Otherwise the first one fails the read. */
  readonly skipCorrupt?: boolean | undefined;
  /** Which events count. Only for a store that {@link Store.computesViews computes views}. */
  readonly view?: HistoryView | undefined;
}

/** Where a session begins to be undone by a rewind. */
export interface RewindStart {
  /** The invocation that the rewind names. */
  readonly invocationId: string;
  /** The session's first event of that invocation. Absent: it has none. */
  readonly eventId?: string | undefined;
}

/** What an answer with a part of a session's events says of those that it lacks. */
interface PartialEvents {
  /**
   * The start of each rewind among the events: one that is not among them may be older. Absent if there is no rewind, if the
   * events are all, or if the store does not tell; see `rewindStarts`.
   */
  readonly rewindStarts?: readonly RewindStart[] | undefined;
}

/** A session that was read. */
export interface ReadSession<Events = Event[]> extends SessionHead, PartialEvents {
  /** The JSON object of the state, with the keys of all scopes. */
  readonly state: string;
  /** The caller may change them. */
  readonly events: Events;
  readonly title?: string | undefined;
  /** JSON text. */
  readonly labels?: string | undefined;
  /** JSON text. */
  readonly parent?: string | undefined;
  /**
   * The invocations that rewinds among the events name, and that begin before the events, or may. Present if a cache has
   * these events alone, and the session has older ones, or may have.
   */
  readonly olderInvocations?: readonly string[] | undefined;
}

/** The page of events to read. */
export interface PageRequest {
  readonly key: CompositeSessionKey;
  /** `'after'`: the first events after `eventId`, or of all. `'before'`: the last ones before it, or of all. */
  readonly direction: 'before' | 'after';
  readonly eventId: string | undefined;
  readonly limit: number;
  readonly withCount: boolean;
  /**
   * The {@link SessionHead.created} that the caller knows. A cache returns the same if its copy was deleted since, and
   * the session was not.
   */
  readonly created?: number | undefined;
  /**
   * Whether the caller reads on to the end. The page may then have more events than `limit`, if the storage has to
   * read them in any case.
   */
  readonly isToEnd?: boolean | undefined;
  readonly skipCorrupt?: boolean | undefined;
  /** Which events count. Only for a store that {@link Store.computesViews computes views}. */
  readonly view?: HistoryView | undefined;
  /** Whether the page of a view ends where the view shows the event, and not where it is stored. */
  readonly isShown?: boolean | undefined;
}

/** A page of events, and its session. It has only `created` if no event has the requested id. */
export interface ReadPage extends PartialEvents {
  readonly created: number;
  /** The revision of the session. Absent if the store does not know it. */
  readonly revision?: number | undefined;
  /** The caller may change them. */
  readonly events?: Event[] | undefined;
  readonly hasOlder?: boolean | undefined;
  /** The id of the first event of the page, even if that cannot be read. */
  readonly firstId?: string | undefined;
  readonly lastId?: string | undefined;
  /** The number of all events of the session, if it was requested. */
  readonly eventCount?: number | undefined;
  readonly createTime?: number | undefined;
  readonly lastUpdateTime?: number | undefined;
  /** JSON text. */
  readonly initialState?: string | undefined;
  readonly title?: string | undefined;
  /** JSON text. */
  readonly labels?: string | undefined;
  /** JSON text. */
  readonly parent?: string | undefined;
}

/** A session of which it is read what it holds. */
export interface InfoRequest {
  readonly key: CompositeSessionKey;
  readonly skipCorrupt?: boolean | undefined;
}

/** What a session holds. */
export interface ReadInfo {
  readonly created: number;
  /** Absent if the store does not know it. */
  readonly revision?: number | undefined;
  readonly info: SessionInfo;
}

/** A session whose markers are read. */
export interface MarkersRequest {
  readonly key: CompositeSessionKey;
  /** The id of an event to return too, if it is stored. */
  readonly eventId?: string | undefined;
  readonly skipCorrupt?: boolean | undefined;
}

/** The markers of a session. */
export interface ReadMarkers {
  readonly created: number;
  readonly revision: number;
  /** The events of `MarkerRows`. The caller may change them. */
  readonly events: Event[];
}

/** The events of a session to read by their ids, each once. */
export interface IdsRequest {
  readonly key: CompositeSessionKey;
  readonly eventIds: readonly string[];
}

/** What has changed in a session since a revision. */
export interface ChangedSession extends SessionHead, PartialEvents {
  readonly title?: string | undefined;
  /** JSON text. */
  readonly labels?: string | undefined;
  /** JSON text. Only a store whose views are continued tells it. */
  readonly parent?: string | undefined;
  /** The JSON object of the state, with the keys of all scopes. Absent without events, or if the state is as it was. */
  readonly state?: string | undefined;
  /**
   * The events that were written since, in the order of their appends. Absent if the session has to be read as a whole: it was
   * created again, too many events have changed, or `since` is later than its revision.
   */
  readonly events?: StoredEvent[] | undefined;
}

/** A session whose changes since a revision are read; see `ListChangesRequest`. */
export interface SinceRequest {
  readonly key: CompositeSessionKey;
  readonly since: number;
  readonly created: number | undefined;
}

/** The part of a list of sessions to read. */
export interface ListRequest extends StateOwner {
  readonly order: 'asc' | 'desc';
  readonly orderBy: ListTime;
  /** A multiple of `limit`; 0 without `limit`. */
  readonly offset: number;
  readonly limit: number | undefined;
  readonly withTotal: boolean;
  /** Only the sessions that the list has after this place. `limit` is then given. */
  readonly after?: TimedPlace | undefined;
  /** The title and the labels that the sessions must have. Only a server filters by them itself. */
  readonly description?: Pick<Description, 'title' | 'labels'> | undefined;
}

/** A session in a list. If it is damaged, any number may be `NaN`, and the state may be empty. */
export interface ListedSession extends SessionHead {
  readonly sessionId: string;
  readonly userId: string;
  readonly createTime: number | undefined;
  /** The JSON object of the session's own state. */
  readonly state: string;
  readonly title: string | undefined;
  /** JSON text. */
  readonly labels: string | undefined;
  /** JSON text. */
  readonly parent: string | undefined;
  /** Whether the session cannot be read. A damaged state is found when it is parsed. */
  readonly isDamaged: boolean;
}

/** The states of an app and of users, as JSON objects. Their keys have no prefix. */
export interface SharedStates {
  readonly app: string | undefined;
  /** By the id of the user. */
  readonly users: ReadonlyMap<string, string>;
}

/** A page of a list of sessions. It may have more than `limit` if it begins after a place. */
export interface ReadList {
  readonly sessions: readonly ListedSession[];
  /** The number of sessions on all pages; any number if it was not requested. */
  readonly total: number;
  readonly shared: SharedStates;
}

/** An event of an append that was stored before with the same content. */
export interface UnchangedEvent {
  /** Its index among the events of the append. */
  readonly position: number;
  readonly revision: number;
}

/** An event that was written after the revision that the caller knows. */
export interface MissedEvent {
  readonly seq: number;
  readonly revision: number;
  /** JSON text. */
  readonly text: string;
}

/** The revisions of an event: `seq` of its first append, `revision` of its last write. */
export type EventPlace = Omit<MissedEvent, 'text'>;

/** The result of an append. */
export interface Appended extends SessionHead {
  /** The revision of the handle before the append. Absent without a handle. */
  readonly since?: number | undefined;
  readonly shared: SharedRevisions;
  readonly unchanged: readonly UnchangedEvent[];
  readonly missed: readonly MissedEvent[];
  /**
   * The JSON object of the stored state before the append, with the keys of all scopes. Present if the handle missed a
   * replacement or a rewind, or if the append was applied before.
   */
  readonly state?: string | undefined;
  /** For each event of the append, its revisions. Empty if the storage does not know them. */
  readonly placed: readonly EventPlace[];
  /**
   * The invocations that may not continue through the handle: a rewind has undone their last event, or they were
   * cancelled. Present if the handle had missed such a rewind or seal.
   */
  readonly undone?: readonly string[] | undefined;
  /** JSON text: the message of a write with `run` as it is stored, if that is not as it was sent. */
  readonly message?: string | undefined;
}

/** A shared state to read. The request has a `userId` only if the state belongs to a user. */
export interface StateRequest extends StateOwner {
  readonly scope: SharedScope;
}

/** The verbs of histories. `fork` returns the new session with all its events. */
export type StoreHistory = HistoryVerbs<ReadSession, WriteIdentity, [call: Call]>;

/** Which changes of other programs to find. */
export type FindChangedRequest = Omit<ChangedRequest, keyof StorageCall>;

/** The result of a deletion. */
export interface Deletion {
  /**
   * `false` if the session has changed or was created again since it was listed, or if the operation was applied before.
   */
  readonly isDeleted: boolean;
  /** Later revisions are higher. Absent if the storage does not know it. */
  readonly floor?: number | undefined;
}

/** What is read of a session, by its kind. */
export interface SessionReads {
  window: WindowRequest;
  page: PageRequest;
  /** What a session holds. A store that does not count it finds nothing; then pages are counted. */
  info: InfoRequest;
  /** A storage that cannot find markers alone finds nothing. */
  markers: MarkersRequest;
  /** Events by their ids, in any order. */
  ids: IdsRequest;
  /** What has changed since a revision. */
  since: SinceRequest;
}

export type ReadKind = keyof SessionReads;

/** A read of some kinds. */
export type SessionRead<Kind extends ReadKind = ReadKind> = SessionReads[Kind] & {
  readonly kind: Kind;
};

/** The results of reads, by their kinds. */
export interface Found {
  window: ReadSession;
  page: ReadPage;
  info: ReadInfo;
  markers: ReadMarkers;
  ids: StoredEvents;
  since: ChangedSession;
}

type ReadVerb<Kind extends ReadKind> = (
  request: SessionReads[Kind],
  call: Call,
) => MaybePromise<Found[Kind] | undefined>;

/** A function for each kind of reads. */
export type ReadVerbs = {
  readonly [Kind in Exclude<ReadKind, 'info' | 'markers'>]: ReadVerb<Kind>;
} & {
  readonly [Kind in 'info' | 'markers']?: ReadVerb<Kind>;
};

/** Runs the function of a read's kind. Without one, nothing is found. */
export function runRead<Kind extends ReadKind>(
  verbs: ReadVerbs,
  request: SessionRead<Kind>,
  call: Call,
): MaybePromise<Found[Kind] | undefined> {
  const { [request.kind]: verb } = verbs as { readonly [Key in ReadKind]?: ReadVerb<Key> };
  return verb?.call(verbs, request, call);
}

/** The results of writes, by their kinds. */
export interface Results {
  /** `undefined` with `ifAbsent` if the key is taken; otherwise the write fails with `already_exists`. */
  create: CreatedSession | undefined;
  append: Appended;
  /** Whether the session exists. */
  describe: boolean;
  update: SharedRevisions;
  delete: Deletion;
  rewind: StoredRewind;
  fork: ReadSession;
}

/** The kinds that every store takes. A rewind or a fork is an append or a creation where the whole session is. */
export type StoredKind = Exclude<WriteKind, 'rewind' | 'fork'>;

/** A function for each kind of writes. */
export type WriteVerbs = {
  readonly [Kind in StoredKind]: (write: Placed<Kind>, call: Call) => MaybePromise<Results[Kind]>;
};

/** Runs the function of a write's kind. */
export function runWrite<Kind extends StoredKind>(
  verbs: WriteVerbs,
  write: Placed<Kind>,
  call: Call,
): MaybePromise<Results[Kind]> {
  return verbs[write.kind](write, call);
}

/**
 * Sessions, their states and events, in any storage. The service has checked all names in the requests. The store over
 * memory returns no promises.
 *
 * Each method fails with a `SessionError`. If the signal fires before the commit begins, a write fails with
 * `aborted`, unless a storage ignores the signal.
 */
export interface Store {
  /** Opens the storage, or checks that it still responds. */
  open(call: Call): MaybePromise<void>;
  /** Whether the storage applies each {@link WriteIdentity.operation} once. */
  keepsOperations(call: Call): MaybePromise<boolean>;
  write<Kind extends StoredKind>(write: Placed<Kind>, call: Call): MaybePromise<Results[Kind]>;
  /**
   * Stores appends to different sessions in one transaction. A promise may reject although its append would succeed
   * alone; the caller then repeats that append alone. Absent if the storage has no such transaction.
   */
  readonly writeAll?:
    | ((writes: readonly (readonly [PlacedAppend, Call])[]) => readonly Promise<Appended>[])
    | undefined;
  /** Whether the store computes views itself, as a server does. Over other stores the service computes them. */
  readonly computesViews?: true;
  /** Whether a view that was read is continued by what has changed since. Otherwise it is read again. */
  readonly continuesViews?: true;
  /** Reads something of a session. Returns `undefined` if there is no session. */
  read<Kind extends ReadKind>(
    request: SessionRead<Kind>,
    call: Call,
  ): MaybePromise<Found[Kind] | undefined>;
  /** Lists sessions of a user; without `userId` of all users of the app. */
  list(request: ListRequest, call: Call): MaybePromise<ReadList>;
  /** Returns a shared state as JSON. The keys have no prefix. */
  state(request: StateRequest, call: Call): MaybePromise<string>;
  /**
   * The verbs of histories, if the store computes them elsewhere: it does not have the whole sessions. Over other
   * stores `js/core/history` computes them.
   */
  readonly history?: StoreHistory;
  /** Finds what other programs have changed in an app. Returns `undefined` if the storage does not know that. */
  changes?(request: FindChangedRequest, call: Call): MaybePromise<ChangedRows | undefined>;
  /** Frees the memory in the wasm. Calls that have begun still finish. */
  free?(): void;
}
