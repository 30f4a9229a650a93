/** What is copied: the lines of JSON Lines, as `exportSessions` writes them, and the problems with them. */
import { isSessionError, type SessionErrorCode } from '../values/errors/errors.js';
import type { SharedScope } from '../values/state/scope.js';
import { sharedScopeOf } from '../service/files/format/stream_format.js';
import type { SessionFile } from '../service/files/format/session_file.js';

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
export function nameOf({ appName, userId, id, ...line }: Line): string {
  const [app, user] = [JSON.stringify(appName), JSON.stringify(userId)];
  const owners: Readonly<Record<SharedScope, string>> = {
    app: `the app ${app}`,
    user: `the user ${user} in ${app}`,
  };
  const shared = sharedScopeOf(line);
  if (shared !== undefined) return `state of ${owners[shared]}`;
  return `session ${JSON.stringify(id)} of ${user} in ${app}`;
}

/** Returns the events of a session; `undefined` for a state. */
export function eventsOf({ events }: SessionFile): readonly unknown[] | undefined {
  return Array.isArray(events) ? events : undefined;
}
