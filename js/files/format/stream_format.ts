/** The lines of a stream of sessions: JSON Lines, as `exportSessions` writes them. */
import { kindOf } from '../../errors/describe.js';
import { SessionError } from '../../errors/errors.js';
import { isPlainObject } from '../../json/rules.js';
import type { TimeUnit } from '../../python/time.js';
import { malformedFile } from './malformed_file.js';
import { parseJson } from './recorded_session.js';
import { type Dialect, requireTimeUnit, type SessionFile } from './session_file.js';

/** The name in the first line. */
const FORMAT = 'adk-sessions';
/** The version of that format. */
const VERSION = 1;

/** The form of this package's own types. */
export const OWN_DIALECT: Dialect = { casing: 'camel', timeUnit: 'milliseconds' };

/** Returns the first line. */
export function headerOf(dialect: Dialect): SessionFile {
  return { format: FORMAT, version: VERSION, ...dialect };
}

/**
 * Parses a line.
 *
 * @throws SessionError `invalid_argument` if it is not a JSON object
 */
export function parseLine(text: string): SessionFile {
  const json = parseJson(text);
  if (isPlainObject(json)) return json;
  throw malformedFile([], `must have an object on each line; this line is ${kindOf(json)}`);
}

/**
 * Returns the time unit that the first line states.
 *
 * @throws SessionError `unsupported` for an unknown format or version
 */
export function readHeaderUnit({ format, version, timeUnit }: SessionFile): TimeUnit {
  if (format === FORMAT && version === VERSION) return requireTimeUnit(timeUnit);
  throw new SessionError(
    'unsupported',
    `The stream has the format ${JSON.stringify(format)}, version ${JSON.stringify(version)}; ` +
      `this package reads "${FORMAT}", version ${VERSION}. Update the package.`,
  );
}

/** What a line holds, and the names in it. */
interface LineDescription {
  readonly kind: 'session' | 'userState' | 'appState';
  readonly appName?: string;
  readonly userId?: string;
  readonly sessionId?: string;
}

/** Returns the kind of a line and the names in it; absent names are left out. */
export function describeLine(json: SessionFile, replacementApp?: string): LineDescription {
  const appName = textOrUndefined(replacementApp ?? json.appName ?? json.app_name);
  const userId = textOrUndefined(json.userId ?? json.user_id);
  const app = appName === undefined ? {} : { appName };
  if (Object.hasOwn(json, 'appState')) return { kind: 'appState', ...app };
  const user = userId === undefined ? app : { ...app, userId };
  if (Object.hasOwn(json, 'userState')) return { kind: 'userState', ...user };
  const sessionId = textOrUndefined(json.id);
  return { kind: 'session', ...user, ...(sessionId !== undefined && { sessionId }) };
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
