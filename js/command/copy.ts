/** Copies to the service of a database. */
import { isDeepStrictEqual } from 'node:util';
import type { FileVersion } from '../stores/artifacts/artifact_home.js';
import { hashOf } from '../stores/artifacts/file_bytes.js';
import { isSessionError } from '../values/errors/errors.js';
import { exportSession } from '../service/files/export_sessions.js';
import { type SessionFile, HEADER, sharedScopeOf } from '../service/files/session_file.js';
import { ArtifactLines, isArtifactLine } from '../service/files/artifact_lines.js';
import { importSession, readState } from '../service/files/import_session.js';
import { importSessions } from '../service/files/import_sessions.js';
import type { SessionService } from '../values/model/session_service.js';
import { InMemorySessionService } from '../service/in_memory_session_service.js';
import { splitByScope } from '../values/state/keys.js';
import { IS_OF_USER, SHARED_SCOPES, type SharedScope } from '../values/state/scope.js';
import type { StateShape } from '../values/state/state_shape.js';
import { eventsOf, type Line, lineName, type Report, withReport } from './file_lines.js';

/** Called for each session that TO has as FROM has it. */
export type OnSession = (line: Line, isNew: boolean) => void;

/**
 * Copies sessions, and the keys of states that the service lacks. Each session is stored in one step, and then read
 * back. A different session with its id stays as it is.
 */
export async function copyToService(
  lines: AsyncIterable<Line>,
  service: SessionService,
  report: Report,
  onSession: OnSession,
): Promise<void> {
  const files = new ArtifactLines(service);
  let begun: Line | undefined;
  const endBefore = (next?: Line): void => {
    const error = files.endBefore(next);
    if (error !== undefined) report(lineName(begun!), error.message);
  };
  for await (const line of lines) {
    endBefore(line);
    begun = files.isReading ? begun : line;
    await withReport(report, lineName(line), async () => {
      if (isArtifactLine(line)) return copyFile(files, line, report);
      const isNew = await importLine(service, line);
      if (eventsOf(line) === undefined) return compareState(service, line, report);
      if (await hasSession(service, line, report)) onSession(line, isNew);
    });
  }
  endBefore();
}

/** Stores a file that is not in TO. Reports one that differs. */
async function copyFile(files: ArtifactLines, line: Line, report: Report): Promise<void> {
  const copied = await files.take(line, {});
  if (copied === undefined) return;
  const { stored, data } = copied;
  if (stored.size === data.size && (await hasHash(stored, data, lineName(line)))) return;
  report(lineName(line), 'TO has a different file with its version.');
}

/** Whether bytes have the hash of a version. Not every service tells it. */
async function hasHash({ hash }: FileVersion, data: Blob, name: string): Promise<boolean> {
  const own = hash === undefined ? undefined : await hashOf(data, name);
  return own === undefined || own === hash;
}

/**
 * Imports a line.
 *
 * @returns `false` if the service has a session with that id
 */
async function importLine(service: SessionService, line: Line): Promise<boolean> {
  const text = [HEADER, line].map((value) => JSON.stringify(value)).join('\n');
  for await (const { error } of importSessions(service, text)) {
    if (isSessionError(error, 'already_exists')) return false;
    if (error !== undefined) throw error;
  }
  return true;
}

/** Compares a session with the stored one. Reports it and keys of users and apps that differ. */
async function hasSession(service: SessionService, line: Line, report: Report): Promise<boolean> {
  // Memory makes of a file what every storage makes of it, such as the states after its events.
  const memory = new InMemorySessionService();
  const { appName, userId, id: sessionId } = await importSession(memory, line, OWN_UNIT);
  const key = { appName, userId, sessionId };
  const given = await exportSession(memory, key);
  await memory.close();
  const stored = await exportSession(service, key);
  for (const scope of SHARED_SCOPES) {
    const owner = { ...(IS_OF_USER[scope] && { userId }), appName, [`${scope}State`]: {} };
    reportKeys(owner, keysOf(scope, given), keysOf(scope, stored), report);
  }
  if (isDeepStrictEqual(comparable(given), comparable(stored))) return true;
  const [there, here] = [stored, given].map((file) => eventsOf(file)?.length ?? 0);
  report(lineName(line), `TO has a different session: ${there} events, ${here} in FROM.`);
  return false;
}

const OWN_UNIT = { timeUnit: 'milliseconds' } as const;

/** Returns what is equal in two stores that have the same session. */
function comparable({ state, events, title, labels }: SessionFile): object {
  const { session } = splitByScope(Object(state) as StateShape);
  return { state: new Map(Object.entries(session)), events, title, labels };
}

/** Returns the keys of a user's or an app's state in that of a session, without their prefix. */
function keysOf(scope: SharedScope, { state }: SessionFile): Map<string, unknown> {
  return new Map(Object.entries(splitByScope(Object(state) as StateShape)[scope]));
}

async function compareState(service: SessionService, line: Line, report: Report): Promise<void> {
  const scope = sharedScopeOf(line);
  if (scope === undefined) return;
  const { appName, userId } = line as Line & { readonly userId?: string };
  const stored = await readState(service, scope, { appName, userId });
  const given = Object(line[`${scope}State`]) as Record<string, unknown>;
  reportKeys(line, new Map(Object.entries(given)), new Map(Object.entries(stored)), report);
}

function reportKeys(
  owner: Line,
  given: ReadonlyMap<string, unknown>,
  stored: ReadonlyMap<string, unknown>,
  report: Report,
): void {
  for (const [key, value] of given) {
    if (isDeepStrictEqual(stored.get(key), value)) continue;
    report(lineName(owner), `TO has another value of ${JSON.stringify(key)}.`);
  }
}
