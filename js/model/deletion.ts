import type { HostAbortSignal } from './host.js';

/**
 * Selects the sessions to delete. A session must fulfil all of the given members.
 *
 * @example
 * ```ts
 * import type { DeleteSessionsRequest } from 'adk-session-wasm';
 *
 * const month = 30 * 24 * 60 * 60 * 1000;
 * const old: DeleteSessionsRequest = { appName: 'shop', olderThan: Date.now() - month };
 * ```
 */
export interface DeleteSessionsRequest {
  /** The app whose sessions are deleted. */
  appName: string;
  /** Absent: the sessions of all users of the app. */
  userId?: string | undefined;
  /**
   * Only sessions whose `lastUpdateTime` is before this time: milliseconds since 1970. Absent: of any time.
   */
  olderThan?: number | undefined;
  /** Only sessions that have all of these labels, each with the same value; at least one. Absent: any. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * How `deleteSessions` is ended early and observed.
 *
 * @example
 * ```ts
 * import { type DeleteSessionsOptions, InMemorySessionService } from 'adk-session-wasm';
 *
 * const options: DeleteSessionsOptions = {
 *   signal: AbortSignal.timeout(10_000),
 *   onProgress: (deleted) => console.log(`${deleted} sessions are deleted`),
 * };
 * await new InMemorySessionService().deleteSessions({ appName: 'shop', userId: 'ada' }, options);
 * ```
 */
export interface DeleteSessionsOptions {
  /** Ends the call with `aborted` before the next session. What is deleted stays deleted. */
  signal?: HostAbortSignal | undefined;
  /**
   * Called after each batch with the number of sessions that are deleted so far. If it throws, the host
   * reports the error as uncaught, and the call is not affected.
   */
  onProgress?: ((deleted: number) => void) | undefined;
}

/**
 * How long and how many sessions a service keeps. At least one limit is given. The most recently updated
 * session of a user is kept by `maxSessions` and `maxBytes`, whatever its size.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, type RetentionOptions } from 'adk-session-wasm';
 *
 * const retention: RetentionOptions = { maxAge: 30 * 24 * 60 * 60 * 1000, maxSessions: 200 };
 * const service = new InMemorySessionService({ retention });
 * ```
 */
export interface RetentionOptions {
  /**
   * Milliseconds after its `lastUpdateTime` at which a session of any user of the app is deleted; at least
   * 60,000.
   */
  maxAge?: number | undefined;
  /** The most sessions of one user of an app, from 1. Those that were updated last are kept. */
  maxSessions?: number | undefined;
  /**
   * The most bytes of the sessions of one user of an app, from 1, as `sessionInfo` measures them: it reads their
   * events. Those that were updated last are kept.
   */
  maxBytes?: number | undefined;
}
