import type { SessionService } from '../../values/model/session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { LiveSessions, LiveSessionsRequest } from './types/live_sessions.js';
import { WatchedSessions } from './watched_sessions.js';

/**
 * Returns a store that lists sessions as they are now, whoever changes them. It reads and watches only while it has
 * subscribers.
 *
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSessions } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const list = liveSessions(service, { appName: 'shop', userId: 'ada', limit: 20 });
 * const stop = list.subscribe(({ sessions }) => console.log(sessions.map(({ title }) => title)));
 * stop();
 * ```
 */
export function liveSessions<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  request: LiveSessionsRequest<keyof S & string>,
): LiveSessions<S> {
  return new WatchedSessions(service, request);
}
