import type { LocalData } from '../data/local_data.js';
import type { Pending } from '../data/pending.js';
import type { StatusBoard } from '../records/status.js';
import type { RemoteConnection } from './remote_connection.js';

/** What the parts of a cache have in common. */
export interface CacheContext {
  readonly data: LocalData;
  readonly remote: RemoteConnection;
  readonly pending: Pending;
  readonly board: StatusBoard;
  readonly clock: () => number;
  /**
   * The numbers of mutations whose calls wait to learn whether the remote has their session. The calls themselves
   * report a refusal.
   */
  readonly awaited: Set<number>;
  /** Tells of a failure in the background. */
  readonly report: (error: unknown) => void;
}
