/** The lines of a stream of sessions: JSON Lines, as `exportSessions` writes them. */
import { kindOf } from '../../../values/errors/describe.js';
import { SessionError } from '../../../values/errors/errors.js';
import { isPlainObject } from '../../../values/json/rules.js';
import { IS_OF_USER, SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import { malformedFile } from './malformed_file.js';
import { parseFileText } from './recorded_session.js';
import type { SessionFile } from './session_file.js';

/** The name in the first line. */
const FORMAT = 'adk-sessions';
/** The version of that format. */
const VERSION = 1;

/** The first line. The sessions in the lines after it are in camelCase and milliseconds. */
export const HEADER: SessionFile = { format: FORMAT, version: VERSION };

/**
 * Parses a line.
 *
 * @throws SessionError `invalid_argument` if it is not a JSON object
 */
export function parseLine(text: string): SessionFile {
  const json = parseFileText(text);
  if (isPlainObject(json)) return json;
  throw malformedFile([], `must have an object on each line; this line is ${kindOf(json)}`);
}

/**
 * Returns whether the object is the first line.
 *
 * @throws SessionError `unsupported` for an unknown format or version
 */
export function isHeader(json: SessionFile): boolean {
  if (!Object.hasOwn(json, 'format')) return false;
  const { format, version } = json;
  if (format === FORMAT && version === VERSION) return true;
  throw new SessionError(
    'unsupported',
    `The stream has the format ${JSON.stringify(format)}, version ${JSON.stringify(version)}; ` +
      `this package reads "${FORMAT}", version ${VERSION}. Update the package.`,
  );
}

/** What a line holds: a session, or a state that sessions share. */
export type LineKind = 'session' | `${SharedScope}State`;

/** What a line holds, and the names in it. */
interface LineDescription {
  readonly kind: LineKind;
  readonly appName?: string;
  readonly userId?: string;
  readonly sessionId?: string;
}

/** Returns the kind of a line and the names in it; absent names are left out. */
export function describeLine(json: SessionFile): LineDescription {
  const appName = textOrUndefined(json.appName ?? json.app_name);
  const userId = textOrUndefined(json.userId ?? json.user_id);
  const app = appName === undefined ? {} : { appName };
  const user = userId === undefined ? app : { ...app, userId };
  const shared = sharedScopeOf(json);
  if (shared !== undefined) {
    return { kind: `${shared}State`, ...(IS_OF_USER[shared] ? user : app) };
  }
  const sessionId = textOrUndefined(json.id);
  return { kind: 'session', ...user, ...(sessionId !== undefined && { sessionId }) };
}

/** Returns the scope of the shared state that a line holds; `undefined` for a session. */
export function sharedScopeOf(json: object): SharedScope | undefined {
  return SHARED_SCOPES.find((scope) => Object.hasOwn(json, `${scope}State`));
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
