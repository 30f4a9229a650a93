import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { LiveSession, LiveSessionOptions } from './types/live_session.js';
import { WatchedSession } from './watched_session.js';

/**
 * Returns a store that shows a session as it is now, whoever changes it: this tab, another one, or, where the service
 * reports it, another client of a server. It reads and watches only while it has subscribers.
 *
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSession } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const chat = liveSession(service, { appName: 'shop', userId: 'ada', sessionId: 's1' }, { window: 20 });
 * const stop = chat.subscribe(({ status, events }) => console.log(status, events.length));
 * await chat.send({ author: 'user', content: { role: 'user', parts: [{ text: 'Which tea?' }] } });
 * stop();
 * ```
 */
export function liveSession<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  key: CompositeSessionKey,
  options: LiveSessionOptions<S> = {},
): LiveSession<S> {
  return new WatchedSession(service, key, options);
}
