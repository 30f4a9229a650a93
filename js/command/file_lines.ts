import { createHash } from 'node:crypto';
import {
  describeLine,
  isHeader,
  parseLine,
  sharedScopeOf,
} from '../service/files/format/stream_format.js';
import { malformedFile, requireJsonObject } from '../service/files/format/malformed_file.js';
import { parseFileText } from '../service/files/format/recorded_session.js';
import { fileOf, type SessionFile, storedSessionIn } from '../service/files/format/session_file.js';
import { type LinesSource, readLines } from '../service/files/import/read_lines.js';
import { requireId } from '../values/model/values/ids.js';
import { IS_OF_USER } from '../values/state/scope.js';
import type { TimeUnit } from '../values/python/time.js';
import { type Line, type Report, withReport } from './line.js';

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
