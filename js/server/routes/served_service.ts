import type { PagedEvents } from '../../model/event_page.js';
import type { BaseSessionService } from '../../model/session_service.js';
import type { Watchable } from '../../watch/notice.js';

/**
 * A service that a handler can serve: any service of this package.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import type { ServedService } from 'adk-session-wasm/server';
 *
 * const service: ServedService = new InMemorySessionService();
 * ```
 */
export type ServedService = BaseSessionService & PagedEvents & Watchable;
