import type { Event } from './event.js';

/** What JSON can say. State values are of this type. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The state that an agent sees: one map of all scopes, told apart by the prefix of a key. */
export type StateShape = Record<string, unknown>;

/** One conversation of one user with one app. A plain object with nothing else on it. */
export interface Session<S extends StateShape = StateShape> {
  id: string;
  appName: string;
  userId: string;
  /** App, user and session state merged, prefixes kept. Writing to it is never stored. */
  state: S;
  /** In append order. */
  events: Event[];
  /** Milliseconds since 1970. */
  lastUpdateTime: number;
}

/** What names one session. */
export interface CompositeSessionKey {
  appName: string;
  userId: string;
  sessionId: string;
}

/** Every request may carry a signal: fired before the commit began, it stops the call. */
export interface Abortable {
  signal?: AbortSignal | undefined;
}

/** Asks for a new session. */
export interface CreateSessionRequest<S extends StateShape = StateShape> extends Abortable {
  appName: string;
  userId: string;
  /** Absent or blank: a fresh UUID v4. */
  sessionId?: string | undefined;
  /** Split by scope and stored at once; `temp:` keys are dropped. */
  state?: Partial<S> | undefined;
}

/** Which events a read returns. */
export interface GetSessionConfig {
  /** Only the last n in append order. */
  numRecentEvents?: number | undefined;
  /** Only events with `timestamp >= afterTimestamp` (milliseconds), wherever they stand. */
  afterTimestamp?: number | undefined;
  /** Leave out events whose stored record cannot be read, rather than failing the read. */
  skipCorrupt?: boolean | undefined;
}

export interface GetSessionRequest extends CompositeSessionKey, Abortable {
  config?: GetSessionConfig | undefined;
}

export interface ListSessionsRequest extends Abortable {
  appName: string;
  /** Absent: the sessions of all users of the app. */
  userId?: string | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  /** From 1; needs `limit` and wins over `offset`. */
  page?: number | undefined;
  /** By `lastUpdateTime`, ties by id. Default `'asc'`. */
  order?: 'asc' | 'desc' | undefined;
}

export interface ListSessionsResponse<S extends StateShape = StateShape> {
  /** Without events. */
  sessions: Session<S>[];
  page: number;
  limit: number;
  totalItems: number;
  totalPages: number;
}

export interface DeleteSessionRequest extends CompositeSessionKey, Abortable {}

export interface AppendEventRequest<S extends StateShape = StateShape> extends Abortable {
  session: Session<S>;
  event: Event;
}

export interface AppendEventsRequest<S extends StateShape = StateShape> extends Abortable {
  session: Session<S>;
  events: Event[];
}

/** With `sessionId`: an event of author `user` on that session. Without: `user:`/`app:` keys only. */
export interface UpdateStateRequest extends Abortable {
  appName: string;
  userId?: string | undefined;
  sessionId?: string | undefined;
  stateDelta: StateShape;
}

export interface UserRequest extends Abortable {
  appName: string;
  userId: string;
}

export interface AppRequest extends Abortable {
  appName: string;
}
