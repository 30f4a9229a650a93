import type { Abortable, CompositeSessionKey, Session } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';

/**
 * Reads a session with all its events.
 *
 * It asks for an explicit number of events. Without one, a service with the option `history` returns only the
 * last events, and an export would lack the others.
 */
export function readWholeSession(
  service: BaseSessionService,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
): Promise<Session | undefined> {
  const config = { numRecentEvents: Number.MAX_SAFE_INTEGER };
  return service.getSession({ appName, userId, sessionId, config, signal });
}
