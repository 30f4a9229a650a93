import { sessionNotFound } from '../../../values/errors/session_not_found.js';
import { takeRequest } from '../../../core/call/call.js';
import { requireKey } from '../../../values/model/values/ids.js';
import type { Abortable, CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { fileOf, type SessionDialect, type SessionFile } from '../format/session_file.js';
import { readWholeSession } from './whole_session.js';

/** Options of {@link exportSession}. */
export interface ExportSessionOptions extends SessionDialect, Abortable {
  /**
   * Whether a file has the session's own state when it was created, if the service knows it. Python refuses a
   * session with this member. Default `false`.
   */
  initialState?: boolean | undefined;
}

/**
 * Exports a stored session with all its events, as a file of one of the ADKs; see `sessionToFile`.
 *
 * Its `state` is the state that an agent sees, including `user:` and `app:` keys.
 *
 * @param options default: camelCase and milliseconds, as in `@google/adk`
 * @throws SessionError (as a rejection) `not_found`; `invalid_argument`; any error of `getSession`
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { exportSession } from 'adk-session-wasm/files';
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * await service.createSession(key);
 * const file = await exportSession(service, key, { casing: 'snake', timeUnit: 'seconds' });
 * await writeFile('s1.session.json', JSON.stringify(file, undefined, 2));
 * ```
 */
export async function exportSession(
  service: SessionService,
  key: CompositeSessionKey,
  options: ExportSessionOptions = {},
): Promise<SessionFile> {
  const { appName, userId, sessionId } = takeRequest(key);
  requireKey({ appName, userId, sessionId });
  const { signal, initialState, ...dialect } = options;
  const request = { appName, userId, sessionId, signal };
  const stored = await readWholeSession(service, request, initialState);
  if (stored !== undefined) return fileOf(stored, dialect);
  throw sessionNotFound(sessionId);
}
