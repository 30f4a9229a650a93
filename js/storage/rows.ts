import type { SharedScope } from '../state/scope.js';

/**
 * The key of an app, a user or a session. A user's key has no `sessionId`, an app's key has no
 * `userId` either. An id is 1 to 512 bytes of well-formed text with any characters, also `/` and
 * NUL. Ids that differ only in case are different.
 *
 * @example
 * ```ts
 * import type { StorageKey } from 'adk-session-wasm';
 *
 * const user: StorageKey = { appName: 'shop', userId: 'ada' };
 * ```
 */
export interface StorageKey {
  /** The app. */
  readonly appName: string;
  /** The user; absent in the key of an app. */
  readonly userId?: string;
  /** The session; absent in the key of a user or an app. */
  readonly sessionId?: string;
}

/**
 * The stored state of a user or an app.
 *
 * @example
 * ```ts
 * import type { SharedRow } from 'adk-session-wasm';
 *
 * const row: SharedRow = { revision: 3, state: '{"name":"Ada"}' };
 * ```
 */
export interface SharedRow {
  /** The revision of the last change; a safe integer. */
  readonly revision: number;
  /** JSON text. */
  readonly state: string;
}

/** The states of the user and the app. Each member is required, so that the compiler names a forgotten one. */
export type SharedRows = Readonly<Record<SharedScope, SharedRow | undefined>>;

/**
 * A stored session without its events.
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
  /** The title; absent or empty without one. Only adapters with the verb `describe` store it. */
  readonly title?: string | undefined;
  /** JSON text of the labels; absent or empty without any. Only adapters with the verb `describe` store it. */
  readonly labels?: string | undefined;
  /**
   * Milliseconds since 1970; absent if it is not known. An adapter that stores it, and the next member, has both
   * in `sessionInfo`.
   */
  readonly createTime?: number | undefined;
  /** JSON text of the session's own state as it was created; absent if it is not known. */
  readonly initialState?: string | undefined;
}

/**
 * A stored event.
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
  /** The sort key of events: the revision at which the event was first appended. */
  readonly seq: number;
  /** The revision at which the event was last written. */
  readonly revision: number;
  /** The event's own timestamp in milliseconds since 1970. */
  readonly timestamp: number;
  /** JSON text of the event. */
  readonly text: string;
}
