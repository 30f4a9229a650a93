import type { StateShape } from '../state/state_shape.js';
import type { Event } from './event/event.js';
import type { Abortable, CompositeSessionKey } from './session.js';
import type { HistoryView } from './values/read_options.js';

/** The request of a page of a session's events. Without `before` and `after`: the last events. */
export interface ListEventsRequest extends CompositeSessionKey, Abortable {
  /** A cursor: the page has the last events before this place. */
  before?: string | undefined;
  /** A cursor: the page has the first events after this place. */
  after?: string | undefined;
  /** The most events of the page, 1 to 1,000; default 50. */
  limit?: number | undefined;
  /**
   * Whether the page has `eventCount`. An SQL database counts all events of the session for it, which
   * takes longer than to read a page of a long session. Default: only without `before` and `after`.
   */
  withCount?: boolean | undefined;
  /** Leaves out events whose stored record cannot be read. By default such an event fails the call. */
  skipCorrupt?: boolean | undefined;
  /**
   * Which events count after rewinds and compactions; default `'raw'`. If there are any, a page of another view with
   * `after` or `eventCount` reads the whole history, and so does `'model'` after a compaction. A page may be longer than
   * `limit`, so that a summary stays with the event before it.
   */
  view?: HistoryView | undefined;
}

/**
 * A page of a session's events.
 *
 * Its cursors are opaque texts. They stay valid while events are appended
 * and replaced, and end with their session. Over a cache, a cursor
 * also ends if it names an unsent event that is dropped or taken back. A
 * page at an ended cursor fails with `invalid_argument`.
 */
export interface EventsPage {
  /** The events, in append order. */
  events: Event[];
  /** The cursor to the events before this page; absent if there are none. */
  before?: string | undefined;
  /**
   * The cursor to the events after this page, those included that are yet to be appended. So a page
   * at the end has it too. Absent if there was neither an event nor a cursor in the request.
   */
  after?: string | undefined;
  /**
   * The number of all events of the session, or of the view. Absent on a page at a cursor without `withCount: true`,
   * with `withCount: false`, and if the storage cannot count: Vertex AI, a storage whose `readPage` does not, or a
   * cache without a connection whose copy lacks older events and does not know their number.
   */
  eventCount?: number | undefined;
}

/** The request to go through a session's events, page by page. */
export interface EventsRequest extends CompositeSessionKey, Abortable {
  /** `'asc'`: in append order. `'desc'`: the newest event first. Default `'asc'`. */
  order?: 'asc' | 'desc' | undefined;
  /** Only with `'desc'`, a cursor: begins before this place. */
  before?: string | undefined;
  /** Only with `'asc'`, a cursor: begins after this place. */
  after?: string | undefined;
  /**
   * The most events that are read at once, 1 to 1,000; default 50. A storage that has to read all of them in any
   * case, such as Vertex AI, reads them once.
   */
  limit?: number | undefined;
  /** See {@link ListEventsRequest.skipCorrupt}. */
  skipCorrupt?: boolean | undefined;
  /** See {@link ListEventsRequest.view}. */
  view?: HistoryView | undefined;
}

/** The request to read events by their ids. */
export interface GetEventsRequest extends CompositeSessionKey, Abortable {
  /** The ids, at most 100. */
  eventIds: readonly string[];
}

/** A stored event with its revisions. */
export interface StoredEvent {
  /** The revision of its first append. Events are ordered by it. */
  seq: number;
  /** The revision of its last write. */
  revision: number;
  /** The event as it is now. */
  event: Event;
}

/** Events of a session that were read by their ids. */
export interface StoredEvents {
  /** The revision at which the session was created. No other session with its id has the same. */
  created: number;
  /** The revision of the session's last change. */
  revision: number;
  /** Those of the events that are stored, in the order of the ids and each once. */
  events: StoredEvent[];
}

/** The request of what has changed in a session since a revision. */
export interface ListChangesRequest extends CompositeSessionKey, Abortable {
  /** A revision of the session: that of an earlier {@link ChangesSince}, or what `revisionOf` gives. */
  since: number;
  /**
   * The {@link ChangesSince.created} that the caller knows. By default `since` tells whether it is still that session.
   */
  created?: number | undefined;
}

/** A session as it is now, and what has changed in it since a revision. */
export interface ChangesSince<S extends object = StateShape> {
  /** The revision at which the session was created. No other session with its id has the same. */
  created: number;
  /** The revision of its last change: the `since` of the next call. */
  revision: number;
  /** Milliseconds since 1970. */
  lastUpdateTime: number;
  /** Absent without a title. */
  title?: string;
  /** Absent without labels. */
  labels?: Record<string, string>;
  /** Whether the session was deleted since, and created again. */
  isRecreated: boolean;
  /**
   * The events that were appended or replaced since, by `seq`: one with a `seq` up to `since` was there before. An
   * event may be there that the caller has already: put each by its id. Absent if the caller has to read the session as
   * a whole: it was created again, more than 1,000 events have changed, or `since` is later than its revision.
   */
  events?: StoredEvent[];
  /**
   * The state of the session, with `user:` and `app:` keys. Present if there are `events` and the revision is not
   * `since`.
   */
  state?: Partial<S>;
}
