/**
 * A question to a storage that other programs write to as well: what was changed since a time? It does not tell of
 * deletions, titles and labels, nor of changes that carry an earlier time.
 */
import type { StorageCall } from '../../values/model/diagnostic.js';

/** Which changes of an app to find, by whomever they were made. */
export interface ChangedRequest extends StorageCall {
  /** The app. */
  readonly appName: string;
  /** In milliseconds; the sessions that were changed then or later. Absent: no sessions. */
  readonly since: number | undefined;
  /** The users whose states are wanted beside the app's. */
  readonly users: readonly string[];
}

/** The sessions that were changed, and the shared states as they are. */
export interface ChangedRows {
  /** In any order; `undefined` if there are too many. */
  readonly sessions:
    | readonly {
        /** The user of the session. */
        readonly userId: string;
        /** The id of the session. */
        readonly sessionId: string;
        /** The revision of the session. */
        readonly revision: number;
        /** Whether the session was created since. */
        readonly isNew: boolean;
      }[]
    | undefined;
  /** The app's state, if it has one. */
  readonly app: StateRevision | undefined;
  /** The states of the users who have one. */
  readonly users: ReadonlyMap<string, StateRevision>;
}

/** The revision of a shared state. */
export interface StateRevision {
  /** Grows with each change of the state. */
  readonly revision: number;
  /** Whether the state has no keys. Creations store such states, which is no change. */
  readonly isEmpty: boolean;
}
