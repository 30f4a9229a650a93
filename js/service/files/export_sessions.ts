/** Exports sessions: one as a file, or many as a stream of lines. */
import { takeRequest } from '../../core/call/call.js';
import type { Artifacts } from '../artifacts/artifacts.js';
import { artifactLines, artifactsOf } from './artifact_lines.js';
import { readInitialState } from '../../core/core_of.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { Abortable, CompositeSessionKey, UserRequest } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { requireKey, requireId } from '../../values/model/values/ids.js';
import {
  type StoredSession,
  fileOf,
  type SessionDialect,
  type SessionFile,
  HEADER,
} from './session_file.js';

/**
 * Reads a session with all its events.
 *
 * It asks for all events explicitly. Otherwise a service with the option `history` returns only the last events, and so
 * does a cache without a connection. An export would lack the others.
 */
async function readWholeSession(
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

/** Selects the sessions to export. */
export interface ExportSessionsRequest
  extends Pick<ExportSessionOptions, 'initialState'>, Abortable {
  /** The app whose sessions are exported. */
  appName: string;
  /** Absent: all users of the app. */
  userId?: string | undefined;
}

/** The number of sessions that are listed at once. */
const PAGE_SIZE = 100;

/**
 * Exports all sessions of a user or of an app as JSON Lines: one JSON value per line. Streams of several apps may be
 * concatenated.
 *
 * | line | content |
 * | --- | --- |
 * | `{"format":"adk-sessions","version":1}` | the first line |
 * | `{"appName":"shop","appState":{"motd":"…"}}` | the app's state, keys without `app:`; only if all users are exported |
 * | `{"appName":"shop","userId":"ada","userState":{"name":"…"}}` | a user's state, keys without `user:`; before the user's sessions |
 * | `{"id":"s1","appName":"shop","userId":"ada","state":{…},"events":[…],"lastUpdateTime":…}` | a session, as `sessionToFile` writes it by default |
 * | `{"appName":"shop","userId":"ada","sessionId":"s1","artifact":{…}}` | a MiB of a file of the session above, or without `sessionId` of the user; only if the service has the option `artifacts` |
 *
 * The sessions of an app come in order of `lastUpdateTime`. Each session is read when its line is taken, so
 * memory holds one session and the ids of all. A line shows the session as it was when the line was written.
 * A session that is deleted during the export may be missing, and one that is created may be included.
 *
 * A service has no list of its apps, nor of users who have state but no session. Name your apps, and export
 * such users by their ids.
 *
 * @returns lines, each with its `\n`, which are produced while they are iterated. `ReadableStream.from` and
 *   `Readable.from` turn them into streams
 * @throws SessionError (when iterated) any error of `sessions` and `getSession`: `aborted`,
 *   `invalid_argument`, `corrupt_record`, …
 *
 * @example
 * ```ts
 * import { createWriteStream } from 'node:fs';
 * import { pipeline } from 'node:stream/promises';
 * import { exportSessions } from 'adk-session-wasm/files';
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const lines = exportSessions(service, { appName: 'shop' });
 * await pipeline(lines, createWriteStream('shop.sessions.jsonl'));
 * ```
 */
export async function* exportSessions(
  service: SessionService,
  request: ExportSessionsRequest,
): AsyncGenerator<string, void> {
  const { appName, userId, signal, initialState } = takeRequest(request);
  // Check everything before the first line: lines that were yielded cannot be taken back.
  requireId('appName', appName);
  if (userId !== undefined) requireId('userId', userId);
  yield formatLine(HEADER);
  const artifacts = await artifactsOf(service);
  const users = new Set<string>();
  if (userId === undefined) {
    yield formatLine({ appName, appState: await service.getAppState({ appName, signal }) });
  } else {
    yield* userLines(service, artifacts, { appName, userId, signal });
    users.add(userId);
  }
  const order = { order: 'asc', limit: PAGE_SIZE, stateKeys: [] } as const;
  for await (const listed of service.sessions({ appName, userId, signal, ...order })) {
    const { id: sessionId, userId } = listed;
    const key = { appName, userId, sessionId, signal };
    const stored = await readWholeSession(service, key, initialState);
    if (stored === undefined) continue;
    if (!users.has(userId)) {
      users.add(userId);
      yield* userLines(service, artifacts, { appName, userId, signal });
    }
    yield formatLine(fileOf(stored));
    const owner = { appName, userId, sessionId };
    for await (const line of artifactLines(artifacts, owner, { signal })) yield formatLine(line);
  }
}

async function* userLines(
  service: SessionService,
  artifacts: Artifacts | undefined,
  request: UserRequest,
): AsyncGenerator<string, void> {
  const { appName, userId, signal } = request;
  yield formatLine({ appName, userId, userState: await service.getUserState(request) });
  const owner = { appName, userId, sessionId: undefined };
  for await (const line of artifactLines(artifacts, owner, { signal })) yield formatLine(line);
}

function formatLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
