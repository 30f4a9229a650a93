import type { ServiceFeed } from '../../watch/service_feed.js';
import type { Pending } from '../records/pending.js';
import type { Records } from '../records/records.js';
import type { CacheKey, StatusBoard } from '../records/status.js';
import type { LocalCopies } from './local_copies.js';
import type { RemoteEnd } from './remote_end.js';

/** What all parts of a cache share: its two ends, what it has recorded, and the options. */
export interface CacheContext {
  readonly local: LocalCopies;
  readonly remote: RemoteEnd;
  readonly records: Records;
  readonly pending: Pending;
  readonly board: StatusBoard;
  /** Receives the notices of the copies that change. */
  readonly feed: () => ServiceFeed;
  readonly clock: () => number;
  readonly report: (error: unknown) => void;
  /** Tells the other tabs that something of this key has changed, was sent or was set aside. */
  readonly tell: (key: CacheKey) => void;
  readonly maxSessions: number;
  readonly maxAge?: number | undefined;
  readonly maxBytes?: number | undefined;
}
