import { createEventActions } from '../../model/event.js';
import { isId } from '../../model/ids.js';
import { isPlainObject, kindOf } from '../../json/rules.js';
import type { PathSegment } from '../../json/path.js';
import { MAX_ID_BYTES } from '../../model/snapshot.js';
import { malformed } from './malformed.js';

type JsonObject = Record<string, unknown>;

/** A session file with a checked structure. Its times are still as the file has them. */
export interface RecordedSession {
  /** `''` if the file has none. */
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: JsonObject | undefined;
  readonly events: readonly JsonObject[];
  readonly lastUpdateTime: unknown;
}

/** Names that replace those of the file. */
export interface GivenNames {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

const MEMBERS = new Set(['id', 'appName', 'userId', 'state', 'events', 'lastUpdateTime']);

/**
 * Parses JSON text, with or without a byte order mark.
 *
 * @throws SessionError `invalid_argument` if the text is not JSON
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw malformed([], `is not JSON: ${reason}`, error);
  }
}

/**
 * Checks everything that agents and services rely on.
 *
 * @param json the file, with the names of this package's types
 * @throws SessionError `invalid_argument` with the path of the mistake
 */
export function recordedSession(json: unknown, given: GivenNames): RecordedSession {
  const file = objectAt(json, []);
  // Python refuses a session with unknown fields, and this package has no place to store them.
  const stranger = Object.keys(file).find((key) => !MEMBERS.has(key));
  if (stranger !== undefined) throw malformed([stranger], 'is no field of a session; take it out');
  const { id: fileId = '', state, events, lastUpdateTime } = file;
  const id = given.sessionId ?? fileId;
  if (!Array.isArray(events)) throw malformed(['events'], `must be a list; it is ${kind(events)}`);
  const ids = new Map<unknown, number>();
  return {
    id: id === '' ? '' : idAt(id, ['id']),
    appName: idAt(given.appName ?? file.appName, ['appName']),
    userId: idAt(given.userId ?? file.userId, ['userId']),
    state: state === undefined ? undefined : objectAt(state, ['state']),
    events: events.map((event: unknown, at) => eventAt(event, at, ids)),
    lastUpdateTime,
  };
}

/** @param ids maps the ids of the events before this one to their indices */
function eventAt(json: unknown, at: number, ids: Map<unknown, number>): JsonObject {
  const path = ['events', at];
  const event = objectAt(json, path);
  const { id = '', timestamp, partial } = event;
  if (typeof timestamp !== 'number') {
    throw malformed([...path, 'timestamp'], `must be a number; it is ${kind(timestamp)}`);
  }
  if (id !== '') {
    const twin = ids.get(idAt(id, [...path, 'id']));
    if (twin !== undefined) {
      throw malformed([...path, 'id'], `is that of events[${twin}] too; ids must be unique`);
    }
    ids.set(id, at);
  }
  if (partial === true) {
    throw malformed(
      [...path, 'partial'],
      'is true: the event is a piece of a streamed answer, and those are never stored; take it out',
    );
  }
  return { ...event, actions: actionsAt(event.actions, [...path, 'actions']) };
}

function actionsAt(json: unknown, path: readonly PathSegment[]): JsonObject {
  if (json === undefined) return { ...createEventActions() };
  const actions = objectAt(json, path);
  if (actions.stateDelta === undefined) return { ...actions, stateDelta: {} };
  objectAt(actions.stateDelta, [...path, 'stateDelta']);
  return actions;
}

function objectAt(value: unknown, path: readonly PathSegment[]): JsonObject {
  if (isPlainObject(value)) return value;
  throw malformed(path, `must be an object; it is ${kind(value)}`);
}

function idAt(value: unknown, path: readonly PathSegment[]): string {
  if (isId(value)) return value;
  const found = typeof value === 'string' ? '' : `; it is ${kind(value)}`;
  throw malformed(path, `must be well-formed text of 1 to ${MAX_ID_BYTES} bytes of UTF-8${found}`);
}

function kind(value: unknown): string {
  return value === undefined ? 'missing' : kindOf(value);
}
