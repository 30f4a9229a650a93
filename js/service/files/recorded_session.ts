import { kindOf, reasonOf } from '../../values/errors/describe.js';
import { SessionError } from '../../values/errors/errors.js';
import { parseJson, TooManyLevels } from '../../values/json/parse.js';
import {
  formatPath,
  type PathSegment,
  isPlainObject,
  type JsonObject,
  unserializable,
} from '../../values/json/rules.js';
import { takeDescription, takeParent } from '../../values/model/description.js';
import { createEventActions } from '../../values/model/event/create_event.js';
import type { SessionChanges, SessionParent } from '../../values/model/session.js';
import { ID_RULE, isId } from '../../values/model/values/ids.js';
import { readGoNames } from '../../values/python/names.js';
import { pythonJsonToJson } from '../../values/python/numbers.js';

/**
 * Makes the error for a file that is not a valid session.
 *
 * @param path the place of the mistake, with the names of this package's types
 * @param rule the rest of a sentence that begins with the path: `must be a list`
 */
export function malformedFile(
  path: readonly PathSegment[],
  rule: string,
  cause?: unknown,
): SessionError {
  const formattedPath = formatPath(path);
  const message = `${formattedPath === '' ? 'The session file' : formattedPath} ${rule}.`;
  return new SessionError('invalid_argument', message, {
    path: formattedPath,
    key: formattedPath === '' ? 'file' : formattedPath,
    cause,
  });
}

/** @throws SessionError `invalid_argument` with the path, if the value is not a JSON object */
export function requireJsonObject(value: unknown, path: readonly PathSegment[]): JsonObject {
  if (isPlainObject(value)) return value;
  throw malformedFile(path, `must be an object; it is ${describeKind(value)}`);
}

/** Describes what a file has instead of the right value. */
export function describeKind(value: unknown): string {
  return value === undefined ? 'missing' : kindOf(value);
}

/** A session file with a checked structure. Its times are still as the file has them. */
export interface RecordedSession {
  /** `''` if the file has none. */
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: JsonObject | undefined;
  readonly events: readonly JsonObject[];
  readonly lastUpdateTime: unknown;
  readonly title: string | undefined;
  readonly labels: Record<string, string> | undefined;
  readonly parent: SessionParent | undefined;
  readonly initialState: JsonObject | undefined;
}

/** Names that replace those of the file. */
export interface ReplacementKey {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

const SESSION_FIELDS = new Set(
  'id appName userId state events lastUpdateTime title labels parent initialState'.split(' '),
);

/**
 * Parses JSON text, with or without a byte order mark. `NaN` and the infinities, which Python writes, become `null`.
 *
 * @throws SessionError `invalid_argument` if the text is not JSON; `unserializable` if it has too many levels
 */
export function parseFileText(text: string): unknown {
  try {
    return parseJson(pythonJsonToJson(text.replace(/^\ufeff/, '')));
  } catch (error) {
    if (error instanceof TooManyLevels)
      throw unserializable(['file'], 'has too many levels of objects and arrays', error);
    throw malformedFile([], `is not JSON: ${reasonOf(error).split('\n')[0]}`, error);
  }
}

/**
 * Checks everything that agents and services rely on.
 *
 * @param json the file, with the names of this package's types
 * @throws SessionError `invalid_argument` with the path of the mistake
 */
export function checkRecordedSession(json: unknown, replacements: ReplacementKey): RecordedSession {
  const file = requireJsonObject(json, []);
  // Python refuses a session with unknown fields, and this package has no place to store them.
  const unknownField = Object.keys(file).find((key) => !SESSION_FIELDS.has(key));
  if (unknownField !== undefined)
    throw malformedFile([unknownField], 'is not a field of a session; remove it');
  const { id: fileId = '', state, events, lastUpdateTime, initialState } = file;
  const id = replacements.sessionId ?? fileId;
  if (!Array.isArray(events))
    throw malformedFile(['events'], `must be a list; it is ${describeKind(events)}`);
  const ids = new Map<unknown, number>();
  return {
    id: id === '' ? '' : checkId(id, ['id']),
    appName: checkId(replacements.appName ?? file.appName, ['appName']),
    userId: checkId(replacements.userId ?? file.userId, ['userId']),
    state: state === undefined ? undefined : requireJsonObject(state, ['state']),
    events: events.map((event: unknown, at) => checkEvent(event, at, ids)),
    lastUpdateTime,
    initialState:
      initialState === undefined ? undefined : requireJsonObject(initialState, ['initialState']),
    ...checkDescription(file),
  };
}

/** Checks the title, the labels and the parent of a file. Files of other ADKs have none of them. */
function checkDescription(file: JsonObject): Pick<RecordedSession, 'title' | 'labels' | 'parent'> {
  const [title, labels, parent] = [file.title, file.labels, file.parent].map(
    (member) => member ?? undefined,
  );
  takeDescription({ title, labels } as SessionChanges);
  takeParent(parent);
  return { title, labels, parent } as Pick<RecordedSession, 'title' | 'labels' | 'parent'>;
}

/** @param ids maps the ids of the events before this one to their indices */
function checkEvent(json: unknown, at: number, ids: Map<unknown, number>): JsonObject {
  const path = ['events', at];
  const event = readGoNames(requireJsonObject(json, path));
  const { id = '', timestamp, partial } = event;
  if (id !== '') {
    const sameIdIndex = ids.get(checkId(id, [...path, 'id']));
    if (sameIdIndex !== undefined) {
      throw malformedFile(
        [...path, 'id'],
        `is also the id of events[${sameIdIndex}]; ids must be unique`,
      );
    }
    ids.set(id, at);
  }
  if (partial === true) {
    throw malformedFile(
      [...path, 'partial'],
      'is true: the event is a part of a streamed response, which is never stored; remove the event',
    );
  }
  const actions = checkActions(event.actions, [...path, 'actions']);
  // The conversion of times refuses a missing one.
  return { ...event, timestamp, actions };
}

function checkActions(json: unknown, path: readonly PathSegment[]): JsonObject {
  if (json === undefined) return { ...createEventActions() };
  const actions = requireJsonObject(json, path);
  if (actions.stateDelta === undefined) return { ...actions, stateDelta: {} };
  requireJsonObject(actions.stateDelta, [...path, 'stateDelta']);
  return actions;
}

function checkId(value: unknown, path: readonly PathSegment[]): string {
  if (isId(value)) return value;
  const actual = typeof value === 'string' ? '' : `; it is ${describeKind(value)}`;
  throw malformedFile(path, ID_RULE + actual);
}
