import {
  isSessionError,
  type SessionError,
  type SessionErrorCode,
} from '../../../values/errors/errors.js';
import { requireId } from '../../../values/model/values/ids.js';
import { requireNotAborted } from '../../../core/call/call.js';
import type { Abortable } from '../../../values/model/session.js';
import { IS_OF_USER, type SharedScope } from '../../../values/state/scope.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { importSession } from './import_session.js';
import { readLines, type LinesSource } from './read_lines.js';
import { requireJsonObject } from '../format/malformed_file.js';
import type { SessionFile } from '../format/session_file.js';
import { describeLine, isHeader, parseLine, sharedScopeOf } from '../format/stream_format.js';
import { joinScopes } from '../../../values/state/keys.js';
import { readState } from './shared_state.js';

/** The outcome of one line. */
export interface ImportOutcome {
  /** The line's number, from 1. */
  readonly line: number;
  /** What the line holds. */
  readonly kind: 'session' | 'userState' | 'appState';
  /** The app that the line names, if it could be read. */
  readonly appName?: string;
  /** The user that the line names, if it could be read. */
  readonly userId?: string;
  /** The session that the line names, if it could be read. */
  readonly sessionId?: string;
  /** The reason why the line was not imported; nothing of it is stored then. Absent: the line was imported. */
  readonly error?: SessionError;
}

/** Errors that concern only one line. */
const LINE_ERRORS: ReadonlySet<SessionErrorCode> = new Set<SessionErrorCode>([
  'invalid_argument',
  'already_exists',
  'unserializable',
  'schema_violation',
]);

/**
 * Imports the sessions of a stream that {@link exportSessions} wrote, or of any JSON Lines with one session
 * of any ADK per line. Each session is imported as by `importSession`, and keys of users and apps if the service
 * lacks them.
 *
 * The import advances while its outcomes are taken: iterate it to the end. If a line cannot be imported,
 * because it is malformed or its session exists, its outcome has the error, and the next line is read. So
 * importing the same stream again after an interruption imports the rest. Blank lines are skipped. Several
 * streams may be concatenated.
 *
 * @throws SessionError (when iterated) `aborted`; `unsupported` if a newer version wrote the stream;
 *   `invalid_argument` for a source that is not JSON Lines; errors that no single line
 *   causes, such as `quota_exceeded` or `closed`
 *
 * @example
 * ```ts
 * import { createReadStream } from 'node:fs';
 * import { importSessions } from 'adk-session-wasm/files';
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const file = createReadStream('shop.sessions.jsonl');
 * for await (const { line, sessionId, error } of importSessions(service, file)) {
 *   if (error !== undefined) console.warn(`line ${line}, ${sessionId}: ${error.message}`);
 * }
 * ```
 */
export async function* importSessions(
  service: SessionService,
  source: LinesSource,
  { signal }: Abortable = {},
): AsyncGenerator<ImportOutcome, void> {
  let isOwnFormat = false;
  let line = 0;
  for await (const text of readLines(source)) {
    line += 1;
    if (text.trim() === '') continue;
    requireNotAborted(signal);
    let outcome: ImportOutcome = { line, kind: 'session' };
    try {
      const json = parseLine(text);
      if (isHeader(json)) {
        isOwnFormat = true;
        continue;
      }
      outcome = { line, ...describeLine(json) };
      const timeUnit = isOwnFormat ? 'milliseconds' : undefined;
      const scope = sharedScopeOf(json);
      if (scope === undefined) await importSession(service, json, { timeUnit, signal });
      else await importState(service, json, scope, outcome, { signal });
    } catch (error) {
      if (!isSessionError(error) || !LINE_ERRORS.has(error.code)) throw error;
      outcome = { ...outcome, error };
    }
    yield outcome;
  }
}

/** Sets the keys of a shared state that the service lacks. */
async function importState(
  service: SessionService,
  json: SessionFile,
  scope: SharedScope,
  line: ImportOutcome,
  { signal }: Abortable,
): Promise<void> {
  const given = requireJsonObject(json[line.kind], [line.kind]);
  const appName = requireId('appName', line.appName);
  const owner = {
    appName,
    ...(IS_OF_USER[scope] && { userId: requireId('userId', line.userId) }),
  };
  const missing = missingKeys(given, await readState(service, scope, { ...owner, signal }));
  await service.updateState({ ...owner, stateDelta: joinScopes({ [scope]: missing }), signal });
}

function missingKeys(given: SessionFile, stored: Readonly<StateShape>): StateShape {
  const entries = Object.entries(given).filter(([key]) => !Object.hasOwn(stored, key));
  return Object.fromEntries(entries);
}
