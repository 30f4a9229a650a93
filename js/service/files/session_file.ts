/** Session files, and the lines of a stream of sessions. */
import { foldState } from '../../core/history/rules/fold.js';
import { kindOf } from '../../values/errors/describe.js';
import { SessionError } from '../../values/errors/errors.js';
import { requireOneOf } from '../../values/errors/option_values.js';
import { isPlainObject } from '../../values/json/rules.js';
import { unreadable } from '../../values/json/unreadable.js';
import type { Event } from '../../values/model/event/event.js';
import type { Session } from '../../values/model/session.js';
import { type Casing, readNames, writeNames } from '../../values/python/casing.js';
import { SESSION } from '../../values/python/fields.js';
import { type TimeUnit, toAllSeconds, convertTimes } from '../../values/python/time.js';
import { IS_OF_USER, SHARED_SCOPES, type SharedScope } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { parseFileText, checkRecordedSession, malformedFile } from './recorded_session.js';
import { convertSessionTimes } from './session_times.js';

/**
 * A session as JSON, as the ADKs write it: `{id, appName, userId, state, events, lastUpdateTime}`, or
 * `{id, app_name, user_id, …}`.
 */
export type SessionFile = Record<string, unknown>;

/** The form in which a file is written: each ADK has its own. */
export interface SessionDialect {
  /** Default `'camel'`. */
  casing?: Casing | undefined;
  /** Default `'milliseconds'`. */
  timeUnit?: TimeUnit | undefined;
}

/** Options for reading a file. */
export interface ReadSessionOptions {
  /**
   * The unit of all times in the file. Default: inferred from the latest time of the events and from
   * `lastUpdateTime`, which works if one of them is from 2001 to 2100, and for adk-java's two units.
   */
  timeUnit?: TimeUnit | undefined;
  /** Instead of the file's. */
  appName?: string | undefined;
  /** Instead of the file's. */
  userId?: string | undefined;
  /** Instead of the file's. */
  sessionId?: string | undefined;
}

/**
 * Returns a session as a file of one of the ADKs.
 *
 * The casing does not apply to user data (`state`, a function's `args` and `response`, `stateDelta`,
 * `customMetadata`, `output`, …) and to fields that no ADK knows: these are kept exactly. Known fields that
 * are `null` are left out. Times in seconds have all digits that a number can hold.
 *
 * @param session the session; it is not changed, and the result shares its data
 * @throws SessionError `invalid_argument` for an unknown casing or unit
 *
 * @example
 * ```ts
 * import { sessionToFile } from 'adk-session-wasm/files';
 * import type { Session } from 'adk-session-wasm';
 *
 * function forPython(session: Session): string {
 *   return JSON.stringify(sessionToFile(session, { casing: 'snake', timeUnit: 'seconds' }));
 * }
 * ```
 */
export function sessionToFile(session: Session, options: SessionDialect = {}): SessionFile {
  return fileOf({ session, initialState: undefined }, options);
}

/** A session, and its own state when it was created, if that is known. */
export interface StoredSession {
  readonly session: Session;
  readonly initialState: StateShape | undefined;
}

/** Like {@link sessionToFile}, with the initial state. */
export function fileOf(
  { session, initialState }: StoredSession,
  { casing = 'camel', timeUnit = 'milliseconds' }: SessionDialect = {},
): SessionFile {
  requireOneOf('casing', casing, ['camel', 'snake']);
  requireTimeUnit(timeUnit);
  const { id, appName, userId, state, events, lastUpdateTime } = session;
  const { title, labels, parent } = session;
  const convertTime = (time: unknown): unknown => {
    return timeUnit === 'seconds' && typeof time === 'number' ? toAllSeconds(time) : time;
  };
  const converted = {
    id,
    appName,
    userId,
    state,
    events: events.map((event) => convertTimes({ ...event }, convertTime)),
    lastUpdateTime: convertTime(lastUpdateTime),
    ...(title !== undefined && { title }),
    ...(labels !== undefined && { labels }),
    ...(parent !== undefined && { parent }),
    ...(initialState !== undefined && { initialState }),
  };
  return writeNames(converted, SESSION, casing) as SessionFile;
}

/**
 * Reads the session in a file of any ADK: camelCase, snake_case or both mixed, milliseconds or seconds.
 *
 * Names are read as Python reads them: if an object has a field in both casings, the camelCase one is used.
 * Known fields that are `null` count as absent. An event without `actions` gets empty ones. A missing `state`
 * is computed from the events. A missing `lastUpdateTime` is the latest event's time, or 0. If no event has a time,
 * as in a response of adk-go, each gets `lastUpdateTime`. The ids of session and events may be missing: they are
 * assigned when the session is stored.
 *
 * @param file JSON text or its parsed value, which is not changed; the result shares its data
 * @throws SessionError `invalid_argument` with the `path` of the mistake (`events[3].timestamp`), or if the
 *   unit of the file's times cannot be inferred
 *
 * @example
 * ```ts
 * import { sessionFromFile } from 'adk-session-wasm/files';
 *
 * const { events } = sessionFromFile({
 *   id: 's1',
 *   app_name: 'shop',
 *   user_id: 'ada',
 *   state: {},
 *   events: [{ id: 'e1', invocation_id: 'i1', author: 'user', timestamp: 1741218414.968405 }],
 * });
 * events[0]?.timestamp; // 1741218414968.405
 * ```
 */
export function sessionFromFile(
  file: string | SessionFile,
  options: ReadSessionOptions = {},
): Session {
  return storedSessionIn(file, options).session;
}

/** Like {@link sessionFromFile}, with the initial state. */
export function storedSessionIn(
  file: string | SessionFile,
  options: ReadSessionOptions,
): StoredSession {
  try {
    return readSession(file, options);
  } catch (error) {
    // A parsed value may have getters.
    throw unreadable('file', error);
  }
}

function readSession(
  file: string | SessionFile,
  { timeUnit, ...replacements }: ReadSessionOptions,
): StoredSession {
  if (timeUnit !== undefined) requireTimeUnit(timeUnit);
  const json = typeof file === 'string' ? parseFileText(file) : file;
  const recorded = checkRecordedSession(readNames(json, SESSION), replacements);
  const { id, appName, userId } = recorded;
  const { lastUpdateTime, ...times } = convertSessionTimes(recorded, timeUnit);
  // The members that every event needs were checked; other fields may be anything.
  const events = times.events as unknown as Event[];
  const state = recorded.state ?? foldState({}, events);
  const { title, labels, parent, initialState } = recorded;
  const session = {
    id,
    appName,
    userId,
    state,
    events,
    lastUpdateTime,
    ...(title !== undefined && { title }),
    ...(labels !== undefined && { labels }),
    ...(parent !== undefined && { parent }),
  };
  return { session, initialState };
}

/** @throws SessionError `invalid_argument` if it is not a known time unit */
function requireTimeUnit(unit: unknown): TimeUnit {
  return requireOneOf('timeUnit', unit, ['milliseconds', 'seconds']);
}

// The lines of a stream of sessions: JSON Lines, as `exportSessions` writes them.

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
export type LineKind = 'session' | 'artifact' | `${SharedScope}State`;

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
  const kind = Object.hasOwn(json, 'artifact') ? 'artifact' : 'session';
  const sessionId = textOrUndefined(kind === 'session' ? json.id : json.sessionId);
  return { kind, ...user, ...(sessionId !== undefined && { sessionId }) };
}

/** Returns the scope of the shared state that a line holds; `undefined` for a session. */
export function sharedScopeOf(json: object): SharedScope | undefined {
  return SHARED_SCOPES.find((scope) => Object.hasOwn(json, `${scope}State`));
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
