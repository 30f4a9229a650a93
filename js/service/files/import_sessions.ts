/** Imports many sessions from a stream of lines. */
import { requireNotAborted } from '../../core/call/call.js';
import { kindOf } from '../../values/errors/describe.js';
import { SessionError, isSessionError, type SessionErrorCode } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import type { HostReadableStream } from '../../values/model/host.js';
import type { Abortable } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { requireId } from '../../values/model/values/ids.js';
import { joinScopes } from '../../values/state/keys.js';
import { IS_OF_USER, type SharedScope } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { ArtifactLines } from './artifact_lines.js';
import { importSession, readState } from './import_session.js';
import { requireJsonObject } from './recorded_session.js';
import {
  type SessionFile,
  describeLine,
  isHeader,
  parseLine,
  sharedScopeOf,
} from './session_file.js';

/**
 * The source of JSON Lines: a text, the stream of a file or response, or any iterable of text or UTF-8 bytes.
 * Chunks may end anywhere.
 */
export type LinesSource =
  | string
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>
  | HostReadableStream<string | Uint8Array>;

/**
 * Yields the lines of `source`, without their line ends.
 *
 * @throws SessionError `invalid_argument` if the source yields anything other than text or UTF-8 bytes
 */
export async function* readLines(source: LinesSource): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // Pieces are joined only at the end of a line: a line may be a session of megabytes, in a thousand chunks.
  let pieces: string[] = [];
  for await (const chunk of chunksOf(source)) {
    const [unfinishedLine = '', ...completeLines] = decodeChunk(chunk, decoder)
      .split('\n')
      .reverse();
    for (const text of completeLines.reverse()) {
      yield pieces.join('') + text;
      pieces = [];
    }
    pieces.push(unfinishedLine);
  }
  pieces.push(decodeChunk(new Uint8Array(), decoder, true));
  yield pieces.join('');
}

function chunksOf(source: LinesSource): Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof source === 'string') return [source];
  return 'getReader' in source ? streamChunks(source) : source;
}

/** Reads a stream by its reader: Safari's streams have no iterator. */
async function* streamChunks(stream: HostReadableStream<unknown>): AsyncGenerator<unknown, void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done === true) return;
      yield value;
    }
  } finally {
    // The caller may stop early. A stream that failed may fail here again, which is ignored.
    await reader.cancel().catch(() => undefined);
  }
}

function decodeChunk(chunk: unknown, decoder: TextDecoder, isLast = false): string {
  if (typeof chunk === 'string') return chunk;
  if (!ArrayBuffer.isView(chunk)) {
    throw invalid('source', `must give text or bytes; it gave ${kindOf(chunk)}`);
  }
  try {
    return decoder.decode(chunk, { stream: !isLast });
  } catch (cause) {
    const message = 'The source is not UTF-8 text; it may be compressed, or a database.';
    throw new SessionError('invalid_argument', message, { key: 'source', cause });
  }
}

/** The outcome of one line. */
export interface ImportOutcome {
  /** The line's number, from 1. */
  readonly line: number;
  /** What the line holds. */
  readonly kind: 'session' | 'userState' | 'appState' | 'artifact';
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
  'artifact_service_missing',
  'not_found',
]);

/**
 * Imports the sessions of a stream that {@link exportSessions} wrote, or of any JSON Lines with one session
 * of any ADK per line. Each session is imported as by `importSession`, and keys of users and apps if the service
 * lacks them. Files keep their numbers; a version that the service has stays. If the service keeps no files, their lines
 * have the error `artifact_service_missing`. If lines of a file are missing, nothing of it is stored, and its first line
 * has a second outcome, with the error `invalid_argument`.
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
  const files = new ArtifactLines(service);
  /** The first line of the file that is being read. */
  let begun: ImportOutcome | undefined;
  for await (const text of readLines(source)) {
    line += 1;
    if (text.trim() === '') continue;
    requireNotAborted(signal);
    let outcome: ImportOutcome = { line, kind: 'session' };
    try {
      const json = parseLine(text);
      const error = files.endBefore(json);
      if (error !== undefined) yield { ...begun!, error };
      if (isHeader(json)) {
        isOwnFormat = true;
        continue;
      }
      outcome = { line, ...describeLine(json) };
      const timeUnit = isOwnFormat ? 'milliseconds' : undefined;
      const scope = sharedScopeOf(json);
      if (outcome.kind === 'artifact') {
        begun = files.isReading ? begun : outcome;
        await files.take(json, { signal });
      } else if (scope === undefined) await importSession(service, json, { timeUnit, signal });
      else await importState(service, json, scope, outcome, { signal });
    } catch (error) {
      if (!isSessionError(error) || !LINE_ERRORS.has(error.code)) throw error;
      outcome = { ...outcome, error };
    }
    yield outcome;
  }
  const error = files.endBefore();
  if (error !== undefined) yield { ...begun!, error };
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
