import type { Abortable, CompositeSessionKey, Session } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';

/**
 * A session with all its events.
 *
 * Not by asking for no number of them: a service with the option `history` then gives the last ones only,
 * and what is exported would lack the others for good.
 */
export function wholeSession(
  service: BaseSessionService,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
): Promise<Session | undefined> {
  const config = { numRecentEvents: Number.MAX_SAFE_INTEGER };
  return service.getSession({ appName, userId, sessionId, config, signal });
}
