import type { TimeUnit } from '../../python/time.js';
import { isSessionError, type SessionError, type SessionErrorCode } from '../../errors/errors.js';
import { requireId } from '../../model/values/ids.js';
import { requireNotAborted, takeOptions } from '../../call/call.js';
import { requireService } from '../../call/given_service.js';
import type { Abortable } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { BaseSessionService } from '../../model/session_service.js';
import { importSession, requireSharedState } from './import_session.js';
import { readLines, type LinesSource } from './read_lines.js';
import { requireJsonObject } from '../format/malformed_file.js';
import { requireTimeUnit, type SessionFile } from '../format/session_file.js';
import { describeLine, parseLine, readHeaderUnit } from '../format/stream_format.js';
import { addPrefix } from './shared_state.js';
import type { SharedState } from './state_plan.js';

/**
 * Options of {@link importSessions}.
 *
 * @example
 * ```ts
 * import type { ImportSessionsOptions } from 'adk-session-wasm/files';
 *
 * const restoring: ImportSessionsOptions = { sharedState: 'overwrite' };
 * ```
 */
export interface ImportSessionsOptions extends Abortable {
  /** Replaces the `appName` of the lines. */
  appName?: string | undefined;
  /** The unit of times. Default: the unit in the stream's first line, else inferred for each session. */
  timeUnit?: TimeUnit | undefined;
  /** How `user:` and `app:` keys are imported. Default `'fill'`. */
  sharedState?: SharedState | undefined;
}

/**
 * The outcome of one line.
 *
 * @example
 * ```ts
 * import type { ImportOutcome } from 'adk-session-wasm/files';
 *
 * function told({ line, kind, sessionId = '', error }: ImportOutcome): string {
 *   return `line ${line}: ${kind} ${sessionId} ${error === undefined ? 'imported' : error.message}`;
 * }
 * ```
 */
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
  /**
   * The reason why the line was not imported. Nothing of it is stored then, unless it resumed an interrupted
   * import. Absent: the line was imported.
   */
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
 * of any ADK per line. Each session is imported as by `importSession`.
 *
 * The import advances while its outcomes are taken: iterate it to the end. If a line cannot be imported,
 * because it is malformed or its session exists, its outcome has the error, and the next line is read. So
 * importing the same stream again after an interruption imports the rest. Blank lines are skipped. Several
 * streams may be concatenated.
 *
 * @throws SessionError (when iterated) `aborted`; `unsupported` if a newer version wrote the stream;
 *   `invalid_argument` for invalid options or a source that is not JSON Lines; errors that no single line
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
  service: BaseSessionService,
  source: LinesSource,
  options: ImportSessionsOptions = {},
): AsyncGenerator<ImportOutcome, void> {
  requireService(service, ['createSession']);
  const ownOptions = takeOptions(options);
  const { signal, appName } = ownOptions;
  const sharedState = requireSharedState(ownOptions.sharedState);
  const statedUnit =
    ownOptions.timeUnit === undefined ? undefined : requireTimeUnit(ownOptions.timeUnit);
  if (appName !== undefined) requireId('appName', appName);
  let timeUnit = statedUnit;
  let line = 0;
  for await (const text of readLines(source, signal)) {
    line += 1;
    if (text.trim() === '') continue;
    requireNotAborted(signal);
    let outcome: ImportOutcome = { line, kind: 'session' };
    try {
      const json = parseLine(text);
      if (Object.hasOwn(json, 'format')) {
        const unit = readHeaderUnit(json);
        timeUnit = statedUnit ?? unit;
        continue;
      }
      outcome = { line, ...describeLine(json, appName) };
      const lineOptions = { appName, timeUnit, sharedState, signal };
      await importLine(service, json, outcome, lineOptions);
    } catch (error) {
      if (!isSessionError(error) || !LINE_ERRORS.has(error.code)) throw error;
      outcome = { ...outcome, error };
    }
    yield outcome;
  }
}

async function importLine(
  service: BaseSessionService,
  json: SessionFile,
  { kind, ...lineKey }: ImportOutcome,
  options: ImportSessionsOptions & { readonly sharedState: SharedState },
): Promise<void> {
  if (kind === 'session') {
    await importSession(service, json, options);
    return;
  }
  const { sharedState, signal } = options;
  const appName = requireId('appName', lineKey.appName);
  if (kind === 'appState') {
    requireService(service, ['getAppState', 'updateState']);
    const storedState = await service.getAppState({ appName, signal });
    const stateDelta = addPrefix('app', selectKeysToSet(json, kind, storedState, sharedState));
    await service.updateState({ appName, stateDelta, signal });
  } else {
    const userId = requireId('userId', lineKey.userId);
    requireService(service, ['getUserState', 'updateState']);
    const storedState = await service.getUserState({ appName, userId, signal });
    const stateDelta = addPrefix('user', selectKeysToSet(json, kind, storedState, sharedState));
    await service.updateState({ appName, userId, stateDelta, signal });
  }
}

/** Returns the keys of the line's state that the import sets. */
function selectKeysToSet(
  json: SessionFile,
  kind: 'userState' | 'appState',
  storedState: Readonly<StateShape>,
  policy: SharedState,
): StateShape {
  const state = requireJsonObject(json[kind], [kind]);
  if (policy === 'keep') return {};
  const entries = Object.entries(state);
  const isSet = ([key]: [string, unknown]): boolean =>
    policy === 'overwrite' || !Object.hasOwn(storedState, key);
  return Object.fromEntries(entries.filter(isSet));
}
