import type { StateShape } from '../state/state_shape.js';
import type { HostAbortSignal } from './host.js';
import type { Abortable, Session } from './session.js';

/**
 * The request of a page of sessions, without their events.
 *
 * @typeParam K - The keys of the service's state.
 */
export interface ListSessionsRequest<K extends string = string> extends Abortable {
  /** The app whose sessions are listed. */
  appName: string;
  /** Absent: the sessions of all users of the app. */
  userId?: string | undefined;
  /** The most sessions of a page; default: all of them. */
  limit?: number | undefined;
  /** The number of the page, from 1. Needs `limit`. */
  page?: number | undefined;
  /**
   * The time that the list is ordered by, ties by id. By `createTime` sessions keep their places. Default
   * `'lastUpdateTime'`. Over a storage of your own, each page by `createTime` reads all sessions.
   */
  orderBy?: 'lastUpdateTime' | 'createTime' | undefined;
  /** From the earliest time to the latest, or `'desc'`: the reverse. Default `'asc'`. */
  order?: 'asc' | 'desc' | undefined;
  /**
   * The {@link SessionsPage.nextCursor} of another page of the same list: the page has the sessions
   * after it. Needs `limit`, and cannot be given with `page`. Each page costs about the
   * same, apart from the total.
   */
  cursor?: string | undefined;
  /**
   * The keys of the state that the sessions are returned with, with their prefixes. Default: all. A list
   * of sessions with large states takes far less time with few keys.
   */
  stateKeys?: readonly K[] | undefined;
  /**
   * Only sessions with all of these labels. The result has no total, and `page` cannot be given. Sessions are read
   * until there are enough: a page costs what the sessions up to its end cost.
   */
  labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Only sessions whose title has all of these words and "phrases", as a search of `adk-session-wasm/search` finds them:
   * at the beginning of words, in scripts without blanks anywhere, without marks and capital letters. Everything else
   * is as with `labels`.
   */
  title?: string | undefined;
  /**
   * `false`: the result has no `totalItems` and no `totalPages`. An SQL database then does not
   * count, which is most of the cost of a page in a large app. It keeps no counter, because
   * Python's services create and delete sessions in the same tables and would not update it.
   * Default `true`.
   */
  withTotal?: boolean | undefined;
}

/**
 * The request of a page of sessions whose result is sure to have the total: a {@link ListSessionsResponse}.
 *
 * @typeParam K - The keys of the service's state.
 */
export interface ListSessionsTotalRequest<
  K extends string = string,
> extends ListSessionsRequest<K> {
  /** A list by labels has no total. */
  labels?: undefined;
  /** A list by title has no total. */
  title?: undefined;
  /** With `false` the result is a {@link SessionsPage} without the total. */
  withTotal?: true | undefined;
}

/**
 * The members that say which list it is: its owner, its order and its filters. The others name a page of it. A new
 * member is one of the list, unless this type excludes it.
 */
export type ListMember = Exclude<
  keyof ListSessionsRequest,
  'limit' | 'page' | 'cursor' | 'withTotal' | 'stateKeys' | 'signal'
>;

/** The filters of a list. */
export type ListFilter = Exclude<ListMember, 'appName' | 'userId' | 'order' | 'orderBy'>;

/** A page of sessions, with or without the total. */
export interface SessionsPage<S extends object = StateShape> {
  /** Sessions without their events. */
  sessions: Session<S>[];
  /** The number of the page, from 1. With a `cursor`, pages count from the one without. */
  page: number;
  /**
   * The requested limit. Without one: the total, or the number of sessions on this page if there is
   * no total.
   */
  limit: number;
  /** Absent with `withTotal: false`, and in a list by `title` or `labels`. */
  totalItems?: number | undefined;
  /** Absent with `withTotal: false`, and in a list by `title` or `labels`. */
  totalPages?: number | undefined;
  /**
   * The cursor to the sessions after this page. Absent without a limit, and if the page has fewer
   * sessions than its limit: then the list ends here. It stays valid while sessions change.
   */
  nextCursor?: string | undefined;
}

/** A page of sessions with the total. */
export interface ListSessionsResponse<S extends object = StateShape> extends SessionsPage<S> {
  /** The number of sessions on all pages. */
  totalItems: number;
  /** The number of pages; 0 without sessions. */
  totalPages: number;
}

/**
 * The request to go through sessions, page by page.
 *
 * @typeParam K - The keys of the service's state.
 */
export interface SessionsRequest<K extends string = string> extends Omit<
  ListSessionsRequest<K>,
  'limit' | 'page' | 'cursor' | 'withTotal'
> {
  /** The sessions that are read at once, at least 1; default 50. */
  limit?: number | undefined;
}

/** Selects the sessions to delete. A session must fulfil all of the given members. */
export interface DeleteSessionsRequest {
  /** The app whose sessions are deleted. */
  appName: string;
  /** Absent: the sessions of all users of the app. */
  userId?: string | undefined;
  /**
   * Only sessions whose `lastUpdateTime` is before this time: milliseconds since 1970. That is the latest timestamp of
   * their events, so a session with an event of the future stays until then. Absent: of any time.
   */
  olderThan?: number | undefined;
  /** Only sessions that have all of these labels, each with the same value; at least one. Absent: any. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/** How `deleteSessions` is ended early and observed. */
export interface DeleteSessionsOptions {
  /** Ends the call with `aborted` before the next session. What is deleted stays deleted. */
  signal?: HostAbortSignal | undefined;
  /**
   * Called after each batch with the number of sessions that are deleted so far. If it throws, the host
   * reports the error as uncaught, and the call is not affected.
   */
  onProgress?: ((deleted: number) => void) | undefined;
}
