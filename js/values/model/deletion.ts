import type { HostAbortSignal } from './host.js';

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
