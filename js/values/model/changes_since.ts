import type { Abortable, CompositeSessionKey } from './session.js';
import type { StateShape } from '../state/state_shape.js';
import type { StoredEvent } from './event_page.js';

/** The request of what has changed in a session since a revision. */
export interface ListChangesRequest extends CompositeSessionKey, Abortable {
  /** A revision of the session: that of an earlier {@link ChangesSince}, or what `revisionOf` gives. */
  since: number;
  /** The {@link ChangesSince.created} that the caller knows. By default `since` tells whether it is still that session. */
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
   * The events that were appended or replaced since, by `seq`: one with a `seq` up to `since` was there before. An event may be there that the caller has already:
   * put each by its id. Absent if the caller has to read the session as a whole: it was created again, more than 1,000
   * events have changed, or `since` is later than its revision.
   */
  events?: StoredEvent[];
  /** The state of the session, with `user:` and `app:` keys. Present if there are `events` and the revision is not `since`. */
  state?: Partial<S>;
}
