import { sessionNotFound } from '../../errors/session_not_found.js';
import { takeOptions, takeRequest } from '../../call/call.js';
import { optionalBoolean } from '../../errors/option_values.js';
import { requireService } from '../../call/given_service.js';
import { requireKey } from '../../model/values/ids.js';
import type { Abortable, CompositeSessionKey } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';
import {
  fileOf,
  type SessionDialect,
  type SessionFile,
  takeDialect,
} from '../format/session_file.js';
import { type ExportedMembers, readingMethods, readWholeSession } from '../format/whole_session.js';

/**
 * Options of {@link exportSession}.
 *
 * @example
 * ```ts
 * import type { ExportSessionOptions } from 'adk-session-wasm/files';
 *
 * const forPython: ExportSessionOptions = { casing: 'snake', timeUnit: 'seconds' };
 * ```
 */
export interface ExportSessionOptions extends SessionDialect, ExportedMembers, Abortable {}

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
  service: BaseSessionService,
  key: CompositeSessionKey,
  options: ExportSessionOptions = {},
): Promise<SessionFile> {
  const { signal, ...given } = takeOptions(options);
  const initialState = optionalBoolean('initialState', given.initialState);
  requireService(service, readingMethods({ initialState }));
  const { appName, userId, sessionId } = takeRequest(key);
  const taken = { appName, userId, sessionId };
  requireKey(taken);
  const dialect = takeDialect(given);
  const stored = await readWholeSession(service, { ...taken, signal }, { initialState });
  if (stored !== undefined) return fileOf(stored, dialect);
  throw sessionNotFound(taken.sessionId);
}
