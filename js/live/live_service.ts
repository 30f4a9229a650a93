import type { ChangesSince, ListChangesRequest } from '../model/changes_since.js';
import type { PagedEvents } from '../model/event_page.js';
import type { BaseSessionService } from '../model/session_service.js';
import type { StateShape } from '../state/state_shape.js';
import type { Watchable } from '../watch/notice.js';

/**
 * The services that a live store works over: all of this package.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import type { LiveService } from 'adk-session-wasm/live';
 *
 * const service: LiveService = new InMemorySessionService();
 * ```
 */
export interface LiveService<S extends object = StateShape>
  extends BaseSessionService<S>, PagedEvents<S>, Watchable {
  /** See `StoredSessionService.listChanges`. If it is `unsupported`, a store reads its window again instead. */
  listChanges(request: ListChangesRequest): Promise<ChangesSince<S>>;
}

/**
 * A service, or the promise of one that `openSessionService` returns.
 *
 * @example
 * ```ts
 * import { openSessionService } from 'adk-session-wasm';
 * import { type GivenService, liveSessions } from 'adk-session-wasm/live';
 *
 * const service: GivenService = openSessionService({ storage: 'memory' });
 * const list = liveSessions(service, { appName: 'shop', userId: 'ada' });
 * ```
 */
export type GivenService<S extends object = StateShape> =
  LiveService<S> | PromiseLike<LiveService<S>>;
