/**
 * The seam below which data is kept: five verbs, each one transaction. A storage knows no rule.
 *
 * What an adapter must do:
 * 1. Each verb happens whole or not at all, and no other write comes between its reading and its
 *    writing.
 * 2. `create` and `append` call `decide` with what they found, and write exactly what it returns;
 *    where it returns `undefined` they write nothing, where it throws they let the error through.
 *    They may call it again when they have to start over; only the last answer counts.
 * 3. A verb resolves only when the write is as durable as the storage makes things.
 * 4. Texts come back as they were given: states to the letter, events as the same JSON value. Ids compare
 *    exactly.
 * 5. Events are ordered by `seq`; an event whose `id` the session has already takes its place.
 * 6. `floor` is never below the revision of anything that was ever deleted: one number for the whole
 *    storage is enough.
 * 7. `list` costs what it returns: it counts on create and delete, and reads no session beyond
 *    `offset + limit`.
 *
 * @module
 */

/**
 * Names an app, a user of it, or a session of that user: as far as it goes.
 *
 * @example
 * ```ts
 * import type { StorageKey } from 'adk-session-wasm';
 *
 * const user: StorageKey = { appName: 'shop', userId: 'ada' };
 * ```
 */
export interface StorageKey {
  readonly appName: string;
  readonly userId?: string;
  readonly sessionId?: string;
}

/**
 * A user's or an app's state as it is stored.
 *
 * @example
 * ```ts
 * import type { ScopeRow } from 'adk-session-wasm';
 *
 * const row: ScopeRow = { revision: 3, state: '{"name":"Ada"}' };
 * ```
 */
export interface ScopeRow {
  /** Of the last change; a safe integer. */
  readonly revision: number;
  /** JSON text. */
  readonly state: string;
}

/**
 * A session as it is stored, without its events.
 *
 * @example
 * ```ts
 * import type { SessionRow } from 'adk-session-wasm';
 *
 * function isUntouched(row: SessionRow): boolean {
 *   return row.revision === row.created;
 * }
 * ```
 */
export interface SessionRow {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /** The revision that it was created at. */
  readonly created: number;
  /** The revision of the last change. */
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly lastUpdateTime: number;
  /** JSON text of the session's own state. */
  readonly state: string;
}

/**
 * An event as it is stored.
 *
 * @example
 * ```ts
 * import type { EventRow } from 'adk-session-wasm';
 *
 * function inOrder(rows: EventRow[]): EventRow[] {
 *   return rows.sort((one, other) => one.seq - other.seq);
 * }
 * ```
 */
export interface EventRow {
  /** Unique within its session. */
  readonly id: string;
  /** What events are ordered by: the revision that it was appended at. */
  readonly seq: number;
  /** The revision that it was last written at. */
  readonly revision: number;
  /** Milliseconds since 1970, as the event says. */
  readonly timestamp: number;
  /** JSON text of the event. */
  readonly text: string;
}

/**
 * Asks for a write.
 *
 * @example
 * ```ts
 * import type { StorageWriteRequest } from 'adk-session-wasm';
 *
 * function touchesApp(request: StorageWriteRequest): boolean {
 *   return request.scopes.includes('app');
 * }
 * ```
 */
export interface WriteRequest {
  /** A session; for `append` also a user or an app alone, whose state shall change. */
  readonly key: StorageKey;
  /** The states that will be changed or shown. */
  readonly scopes: readonly ('session' | 'user' | 'app')[];
  /** Ids to look up among the session's stored events. */
  readonly eventIds: readonly string[];
  /** Events with a later `revision` are wanted as well. */
  readonly since: number;
  /**
   * Which `lastUpdateTime` the session will have, in milliseconds since 1970, unless it has a later one. A
   * storage whose revisions are times can choose {@link Found.floor} by it. Absent or 0: not known.
   */
  readonly lastUpdateTime?: number;
  /**
   * Fires when the caller wants the call no longer. A storage that has not begun to write may then reject with
   * any error; whoever heeds no signal is correct as well.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What a write found. Absent: not there, or (user and app) not asked for.
 *
 * @example
 * ```ts
 * import type { Found } from 'adk-session-wasm';
 *
 * const nothing: Found = { events: [], changed: [], floor: 0 };
 * ```
 */
export interface Found {
  readonly session?: SessionRow | undefined;
  readonly user?: ScopeRow | undefined;
  readonly app?: ScopeRow | undefined;
  /** Those of the session's events that have one of `eventIds`. */
  readonly events: readonly EventRow[];
  /**
   * Those whose `revision` is later than `since`, in any order. Where others write to the storage who know
   * no revisions, also those that may have come since although no revision says so: whoever has a handle
   * passes over those that it has.
   */
  readonly changed: readonly EventRow[];
  /** No revision up to this one will be given again: the highest that was ever deleted, at first 0. */
  readonly floor: number;
}

/**
 * What to write: whole rows, in the place of the stored ones. Absent: unchanged.
 *
 * @example
 * ```ts
 * import type { Changes } from 'adk-session-wasm';
 *
 * function rowCount({ session, user, app, events }: Changes): number {
 *   return [session, user, app].filter(Boolean).length + events.length;
 * }
 * ```
 */
export interface Changes {
  readonly session?: SessionRow | undefined;
  readonly user?: ScopeRow | undefined;
  readonly app?: ScopeRow | undefined;
  readonly events: readonly EventRow[];
}

/**
 * Says what to write in the light of what was found; `undefined`: nothing. Pure and synchronous.
 *
 * @example
 * ```ts
 * import type { Decide, Found } from 'adk-session-wasm';
 *
 * function write(found: Found, decide: Decide): void {
 *   const changes = decide(found);
 *   if (changes === undefined) return;
 *   // Put changes.session, changes.user, changes.app and changes.events in their places.
 * }
 * ```
 */
export type Decide = (found: Found) => Changes | undefined;

/**
 * Asks for a session with a window of its events, or for a user's or an app's state.
 *
 * @example
 * ```ts
 * import type { StorageReadRequest } from 'adk-session-wasm';
 *
 * const last20: StorageReadRequest = {
 *   key: { appName: 'shop', userId: 'ada', sessionId: 's1' },
 *   window: { last: 20 },
 * };
 * ```
 */
export interface ReadRequest {
  readonly key: StorageKey;
  readonly window: {
    /** Only the last so many of those that pass `after`; absent: all. */
    readonly last?: number;
    /** Only events whose `timestamp` (milliseconds) is this or later; absent: all. */
    readonly after?: number;
  };
  /** See {@link WriteRequest.signal}. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What was read. Absent: not there, or beyond the key.
 *
 * @example
 * ```ts
 * import type { Rows } from 'adk-session-wasm';
 *
 * const empty: Rows = { events: [] };
 * ```
 */
export interface Rows {
  readonly session?: SessionRow | undefined;
  readonly user?: ScopeRow | undefined;
  readonly app?: ScopeRow | undefined;
  /** By `seq`. */
  readonly events: readonly EventRow[];
}

/**
 * Asks for a page of sessions, ordered by `lastUpdateTime`, ties by `sessionId` and then `userId` as
 * JavaScript's `<` compares them; `'desc'` is the exact reverse.
 *
 * @example
 * ```ts
 * import type { StorageListRequest } from 'adk-session-wasm';
 *
 * const first: StorageListRequest = { appName: 'shop', order: 'desc', offset: 0, limit: 20 };
 * ```
 */
export interface ListRequest {
  readonly appName: string;
  /** Absent: of all users. */
  readonly userId?: string;
  readonly order: 'asc' | 'desc';
  readonly offset: number;
  /** Absent: all. */
  readonly limit?: number;
  /** `false`: nobody looks at {@link Listing.total}, so that nothing need be counted. Absent: it is wanted. */
  readonly withTotal?: false;
  /** See {@link WriteRequest.signal}. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A page of sessions.
 *
 * @example
 * ```ts
 * import type { Listing } from 'adk-session-wasm';
 *
 * const none: Listing = { sessions: [], users: [], total: 0 };
 * ```
 */
export interface Listing {
  readonly sessions: readonly SessionRow[];
  /** The states of the users of those sessions, where there are any. */
  readonly users: readonly (ScopeRow & { readonly userId: string })[];
  readonly app?: ScopeRow | undefined;
  /** How many sessions there are in all. May be left out where {@link ListRequest.withTotal} is `false`. */
  readonly total?: number | undefined;
}

/**
 * What to delete. What is not there is no error.
 *
 * @example
 * ```ts
 * import type { StorageDeleteRequest } from 'adk-session-wasm';
 *
 * const forget: StorageDeleteRequest = { what: 'user', key: { appName: 'shop', userId: 'ada' } };
 * ```
 */
export type DeleteRequest = (
  | { readonly what: 'session'; readonly key: Required<StorageKey> }
  /** The user's sessions and state. */
  | { readonly what: 'user'; readonly key: { readonly appName: string; readonly userId: string } }
  | {
      readonly what: 'userState';
      readonly key: { readonly appName: string; readonly userId: string };
    }
  | { readonly what: 'appState'; readonly key: { readonly appName: string } }
) & {
  /** See {@link WriteRequest.signal}. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * What a deletion may answer. A change feed orders it by that number among what other services of the
 * storage do at the same time.
 *
 * @example
 * ```ts
 * import type { Deleted } from 'adk-session-wasm';
 *
 * const deleted: Deleted = { floor: 7 };
 * ```
 */
export interface Deleted {
  /** {@link Found.floor} as the deletion left it. */
  readonly floor: number;
}

/**
 * A storage of one's own; see the module for what it must do, and `adk-session-wasm/testing` for the
 * suite that proves it. A verb may answer at once or with a promise.
 *
 * @example
 * ```ts
 * import { openSessionService, type StorageAdapter } from 'adk-session-wasm';
 *
 * function open(adapter: StorageAdapter) {
 *   return openSessionService({ storage: adapter });
 * }
 * ```
 */
export interface StorageAdapter {
  /** What `service.storage.kind` says; default `'custom'`. */
  readonly kind?: string;
  /** What `service.storage.durable` says; default `true`. */
  readonly durable?: boolean;
  create(request: WriteRequest, decide: Decide): void | Promise<void>;
  append(request: WriteRequest, decide: Decide): void | Promise<void>;
  read(request: ReadRequest): Rows | Promise<Rows>;
  list(request: ListRequest): Listing | Promise<Listing>;
  delete(request: DeleteRequest): Deleted | void | Promise<Deleted | void>;
  /** Called once, when the last of the services over this adapter is closed and its work has settled. */
  close?(): void | Promise<void>;
}
