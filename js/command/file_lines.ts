/**
 * What is copied: the lines of JSON Lines, as `exportSessions` writes them, of a service or a file, and the problems
 * with them.
 */
import { createHash } from 'node:crypto';
import { isArtifactLine } from '../service/files/artifact_lines.js';
import { type LinesSource, readLines } from '../service/files/import_sessions.js';
import {
  malformedFile,
  requireJsonObject,
  parseFileText,
} from '../service/files/recorded_session.js';
import {
  sharedScopeOf,
  type SessionFile,
  describeLine,
  isHeader,
  parseLine,
  fileOf,
  storedSessionIn,
} from '../service/files/session_file.js';
import { isSessionError, type SessionErrorCode } from '../values/errors/errors.js';
import { requireId } from '../values/model/values/ids.js';
import type { TimeUnit } from '../values/python/time.js';
import { type SharedScope, IS_OF_USER } from '../values/state/scope.js';

/** A session, or the state of a user or an app, in camelCase and milliseconds. */
export interface Line extends SessionFile {
  readonly appName: string;
}

/** Reports that something is not in TO as it is in FROM. */
export type Report = (name: string, problem: string) => void;

/** Errors that concern only one line. Any other error ends the copy. */
const LINE_ERRORS: ReadonlySet<SessionErrorCode> = new Set<SessionErrorCode>([
  'invalid_argument',
  'unserializable',
  'corrupt_record',
  'schema_violation',
  'not_found',
]);

/** Runs the work on one line. Reports an error that concerns only this line; the result is then `undefined`. */
export async function withReport<T>(
  report: Report,
  name: string,
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isSessionError(error) || !LINE_ERRORS.has(error.code)) throw error;
    report(name, `${error.message} (${error.code})`);
    return undefined;
  }
}

/** Returns what a line holds, for messages. */
export function lineName({ appName, userId, id, ...line }: Line): string {
  const [app, user] = [JSON.stringify(appName), JSON.stringify(userId)];
  const owners: Readonly<Record<SharedScope, string>> = {
    app: `the app ${app}`,
    user: `the user ${user} in ${app}`,
  };
  const shared = sharedScopeOf(line);
  if (shared !== undefined) return `state of ${owners[shared]}`;
  if (isArtifactLine(line)) {
    const { filename } = Object(line.artifact) as { readonly filename?: unknown };
    return `file ${JSON.stringify(filename)} of ${user} in ${app}`;
  }
  return `session ${JSON.stringify(id)} of ${user} in ${app}`;
}

/** Returns the events of a session; `undefined` for a state. */
export function eventsOf({ events }: SessionFile): readonly unknown[] | undefined {
  return Array.isArray(events) ? events : undefined;
}

/** Reads a session file of any ADK, or JSON Lines. */
export async function* fileLines(source: LinesSource, report: Report): AsyncGenerator<Line, void> {
  let isOwnFormat = false;
  let number = 0;
  for await (const text of jsonLines(source)) {
    number += 1;
    if (text.trim() === '') continue;
    const line = await withReport(report, `line ${number}`, () => {
      const json = parseLine(text);
      if (!isHeader(json)) return inOwnDialect(json, isOwnFormat ? 'milliseconds' : undefined);
      isOwnFormat = true;
      return undefined;
    });
    if (line !== undefined) yield line;
  }
}

/** Yields the lines. If the first is not JSON, the file is one session in several lines, and comes as one. */
async function* jsonLines(source: LinesSource): AsyncGenerator<string, void> {
  let isFirst = true;
  let session: string[] | undefined;
  for await (const text of readLines(source)) {
    if (isFirst && text.trim() !== '') {
      isFirst = false;
      if (!isJson(text)) session = [];
    }
    if (session === undefined) yield text;
    else session.push(text);
  }
  if (session !== undefined) yield session.join('\n');
}

function isJson(text: string): boolean {
  try {
    parseFileText(text);
    return true;
  } catch {
    return false;
  }
}

/** @throws SessionError `invalid_argument` without an id, since each run would store another session */
function inOwnDialect(json: SessionFile, timeUnit: TimeUnit | undefined): Line {
  const { kind, appName, userId } = describeLine(json);
  if (kind === 'artifact') return { ...json, appName: requireId('appName', appName) };
  const scope = sharedScopeOf(json);
  if (scope !== undefined) {
    return {
      appName: requireId('appName', appName),
      ...(IS_OF_USER[scope] && { userId: requireId('userId', userId) }),
      [kind]: requireJsonObject(json[kind], [kind]),
    };
  }
  const { session, initialState } = storedSessionIn(json, { timeUnit });
  if (session.id === '') throw malformedFile(['id'], 'is missing; add an id to the session');
  const events = session.events.map((event, at) => {
    return (event.id ?? '') === '' ? { ...event, id: eventIdAt(session, at) } : event;
  });
  const file = fileOf({ session: { ...session, events }, initialState });
  return { ...file, appName: session.appName };
}

/** Returns an id for an event without one: the same in each run, so that a second run finds the stored event. */
function eventIdAt(session: { appName: string; userId: string; id: string }, at: number): string {
  const { appName, userId, id } = session;
  const name = JSON.stringify([appName, userId, id, at]);
  return createHash('sha256').update(name).digest('hex').slice(0, 32);
}
