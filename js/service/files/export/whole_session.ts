import { readInitialState } from '../../../core/core_of.js';
import type { Abortable, CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { StoredSession } from '../format/session_file.js';

/**
 * Reads a session with all its events.
 *
 * It asks for all events explicitly. Otherwise a service with the option `history` returns only the last events, and so
 * does a cache without a connection. An export would lack the others.
 */
export async function readWholeSession(
  service: SessionService,
  request: CompositeSessionKey & Abortable,
  withInitialState: boolean | undefined,
): Promise<StoredSession | undefined> {
  const config = { numRecentEvents: 'all', view: 'raw' } as const;
  const session = await service.getSession({ ...request, config });
  if (session === undefined) return undefined;
  if (withInitialState !== true) return { session, initialState: undefined };
  return { session, initialState: await readInitialState(service, request) };
}
