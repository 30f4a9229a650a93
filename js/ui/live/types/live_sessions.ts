import type { CreateSessionRequest, Session } from '../../../values/model/session.js';
import type { SessionsRequest } from '../../../values/model/session_list.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { LiveStore } from './live_store.js';

/** Which sessions a store lists, and in which order. */
export interface LiveSessionsRequest<K extends string = string> extends Omit<
  SessionsRequest<K>,
  'signal'
> {
  /** Default `'desc'`: the newest first. */
  order?: 'asc' | 'desc' | undefined;
  /** The number of sessions that are read at first, and that each `loadMore` adds; at least 1, default 50. */
  limit?: number | undefined;
}

/** A list of sessions as it is now. Snapshots are never changed. A session that has not changed is the same object. */
export interface LiveSessionsSnapshot<S extends object = StateShape> {
  /**
   * `loading`: nothing has been read yet. `ready`. `failed`: the first read failed, see `error`. `forgotten`: a cache has
   * erased its local data; `reload` reads again.
   */
  readonly status: 'loading' | 'ready' | 'failed' | 'forgotten';
  /** Why the last read failed; `undefined` if it succeeded. What was read before stays. */
  readonly error: unknown;
  /** The sessions without their events. */
  readonly sessions: readonly Readonly<Session<S>>[];
  /** Whether there are more sessions. */
  readonly hasMore: boolean;
}

/** Names a session of a list. Mostly it is an element of a snapshot. */
type NamedSession = Pick<Session, 'id' | 'userId'>;

/** A list of sessions as a store. */
export interface LiveSessions<S extends object = StateShape> extends LiveStore<
  LiveSessionsSnapshot<S>
> {
  /** Adds the next sessions to the list. */
  loadMore(): Promise<void>;
  /**
   * Creates a session of the list's user.
   *
   * @throws SessionError as `createSession` of the service
   */
  create(
    request?: Omit<CreateSessionRequest<S>, 'appName' | 'userId' | 'signal'>,
  ): Promise<Session<S>>;
  /**
   * Changes the title of a session; `null` removes it.
   *
   * @throws SessionError as `updateSession` of the service
   */
  rename(session: NamedSession, title: string | null): Promise<void>;
  /** Deletes a session. */
  remove(session: NamedSession): Promise<void>;
}
