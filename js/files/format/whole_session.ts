import type { Abortable, CompositeSessionKey } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';
import type { StoredSession } from './session_file.js';

/**
 * What to export of a session beside what every ADK reads.
 *
 * @example
 * ```ts
 * import { exportSession, type ExportedMembers } from 'adk-session-wasm/files';
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const whole: ExportedMembers = { initialState: true };
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * await service.createSession({ ...key, state: { topic: 'tea' } });
 * const file = await exportSession(service, key, whole);
 * console.log(file.initialState); // { topic: 'tea' }
 * ```
 */
export interface ExportedMembers {
  /**
   * Whether a file has the session's own state when it was created, if the service knows it. Python refuses a
   * session with this member. The events are then read twice. Default `false`.
   */
  initialState?: boolean | undefined;
}

/** Returns the methods that {@link readWholeSession} calls. */
export function readingMethods({ initialState }: ExportedMembers): string[] {
  return initialState === true ? ['getSession', 'sessionInfo'] : ['getSession'];
}

/**
 * Reads a session with all its events.
 *
 * It asks for an explicit number of events. Without one, a service with the option `history` returns only the
 * last events, and an export would lack the others.
 */
export async function readWholeSession(
  service: BaseSessionService,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
  members: ExportedMembers,
): Promise<StoredSession | undefined> {
  const key = { appName, userId, sessionId, signal };
  const config = { numRecentEvents: Number.MAX_SAFE_INTEGER };
  const session = await service.getSession({ ...key, config });
  if (session === undefined) return undefined;
  if (members.initialState !== true) return { session, initialState: undefined };
  const { initialState } = await service.sessionInfo({ ...key, skipCorrupt: true });
  return { session, initialState };
}
