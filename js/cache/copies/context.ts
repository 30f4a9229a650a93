import type { ServiceFeed } from '../../watch/service_feed.js';
import type { LocalCopies } from './local_copies.js';
import type { RemoteEnd } from './remote_end.js';
import type { Unsent, UnsentParts } from './unsent.js';

/** What all parts of a cache share: its two ends, what it has recorded, what is unsent, and the options. */
export interface CacheContext extends UnsentParts {
  readonly local: LocalCopies;
  readonly remote: RemoteEnd;
  readonly unsent: Unsent;
  /** Receives the notices of the copies that change. */
  readonly feed: () => ServiceFeed;
  readonly clock: () => number;
  readonly maxSessions: number;
  readonly maxAge?: number | undefined;
  readonly maxBytes?: number | undefined;
}
