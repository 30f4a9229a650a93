/** What a service reads of a session, and what a store finds. A read has a kind, as a write has; see `write.ts`. */
import type { Call } from './call/call.js';
import type { BranchesRead, HistoryState, SessionBranches, StateAtRead } from './history_types.js';
import type { Event } from '../values/model/event/event.js';
import type { StoredEvent, StoredEvents } from '../values/model/event_page.js';
import type { CompositeSessionKey } from '../values/model/session.js';
import type { SessionInfo } from '../values/model/session_info.js';
import type { ComputedView, EventCount, HistoryView } from '../values/model/values/read_options.js';

/** The members that every result about one session has. */
export interface SessionHead {
  /** The revision at which the session was created. NaN: the storage has no revisions. */
  readonly created: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
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
  /** Which events count. Only for a store that computes views itself. */
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
   * The start of each rewind among the events: one that is not among them may be older. Absent if there is no rewind,
   * if the events are all, or if the store does not tell; see `rewindStarts`.
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
   * The invocations that rewinds among the events name, and that begin before the events, or may. Present if a cache
   * has these events alone, and the session has older ones, or may have.
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
  /** Which events count. Only for a store that computes views itself. */
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
  /** An invocation whose first event is returned too, if it has one. */
  readonly invocationId?: string | undefined;
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
  /** The JSON object of the state, with the keys of all scopes. Absent without events, or if the state is as it was. */
  readonly state?: string | undefined;
  /**
   * The events that were written since, in the order of their appends. Absent if the session has to be read as a whole:
   * it was created again, too many events have changed, or `since` is later than its revision.
   */
  readonly events?: StoredEvent[] | undefined;
}

/** A session whose changes since a revision are read; see `ListChangesRequest`. */
export interface SinceRequest {
  readonly key: CompositeSessionKey;
  readonly since: number;
  readonly created: number | undefined;
}

/** What is read of a session, by its kind. */
export interface SessionReads {
  window: WindowRequest;
  page: PageRequest;
  /** What a session holds. `undefined` if the store cannot count it; then the caller counts page by page. */
  info: InfoRequest;
  /**
   * `undefined` if the storage cannot find markers, or the first event of the invocation, without reading all events.
   * With an invocation also `undefined` if it has no pages.
   */
  markers: MarkersRequest;
  /** Events by their ids, in any order. */
  ids: IdsRequest;
  /** What has changed since a revision. */
  since: SinceRequest;
  /** Only for a store that computes histories, as `stateAt`. */
  branches: BranchesRead;
  /** The session's own state right after an event. */
  stateAt: StateAtRead;
}

export type ReadKind = keyof SessionReads;

/** A read of some kinds. */
export type SessionRead<Kind extends ReadKind = ReadKind> = SessionReads[Kind] & {
  readonly kind: Kind;
};

/** The results of reads, by their kinds. */
export interface ReadResults {
  window: ReadSession;
  page: ReadPage;
  info: ReadInfo;
  markers: ReadMarkers;
  ids: StoredEvents;
  since: ChangedSession;
  branches: SessionBranches;
  stateAt: HistoryState;
}

/** A plan of reads of one session; see `js/core/storage/reads/read_plan.ts`. */
export type ReadPlan<Result> = Generator<SessionRead, Result, ReadResults[ReadKind] | undefined>;

/** Plans the reads of a view over a store that has only what is stored. */
export interface ViewPlans {
  readonly window: (
    view: ComputedView,
    request: WindowRequest,
  ) => ReadPlan<ReadSession | undefined>;
  readonly page: (view: ComputedView, request: PageRequest) => ReadPlan<ReadPage | undefined>;
}

type ReadVerb<Kind extends ReadKind> = (
  request: SessionReads[Kind],
  call: Call,
) => Promise<ReadResults[Kind] | undefined>;

/** The kinds that every store has a verb for. It may fail with `unsupported`. */
type CommonKind = 'window' | 'page' | 'ids' | 'since';

/** A function for each kind of reads. */
export type ReadVerbs = {
  readonly [Kind in CommonKind]: ReadVerb<Kind>;
} & {
  readonly [Kind in Exclude<ReadKind, CommonKind>]?: ReadVerb<Kind>;
};

/** Runs the function of a read's kind. Without one, nothing is found. */
export async function runRead<Kind extends ReadKind>(
  verbs: ReadVerbs,
  request: SessionRead<Kind>,
  call: Call,
): Promise<ReadResults[Kind] | undefined> {
  const { [request.kind]: verb } = verbs as { readonly [Key in ReadKind]?: ReadVerb<Key> };
  return verb?.call(verbs, request, call);
}
