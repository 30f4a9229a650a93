/**
 * Converts an event to and from the column `event_data` of google-adk Python's tables.
 *
 * The column holds what Python itself would write for the event: {@link selectForPython}, completed with the
 * fields that Python always writes. Python never changes it. If the event cannot be restored exactly from
 * that, its own JSON is stored too, under one key that Python ignores:
 *
 * - Python's form lacks unknown fields, values of another type than Python's, and removals of state keys, or
 *   has `null` for them. The event's own JSON has them.
 * - The JSON is stored as text within a string. Objects would take less space, but PostgreSQL's JSONB sorts
 *   keys and rewrites numbers. Python's parsers also limit depth and digits in fields that they ignore.
 */
import { isTime } from '../../../values/model/values/time.js';
import { readNames, writeNames } from '../../../values/python/casing.js';
import { EVENT } from '../../../values/python/fields.js';
import { eventInMilliseconds } from '../../../values/python/time.js';
import { createEventActions } from '../../../values/model/event/create_event.js';
import type { Event } from '../../../values/model/event/event.js';
import { copyJson } from '../../../values/json/copy.js';
import { defineMember } from '../../../values/members.js';
import { isPlainObject } from '../../../values/json/rules.js';
import { replaceLoneSurrogates } from '../../../values/json/text.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import { isRevision } from '../../../core/storage/checked_rows.js';
import { pythonJsonToJson, parseExactly, writeExactly } from '../../../values/python/numbers.js';
import { selectForPython } from '../../../values/python/python_event.js';
import { parseJson } from '../../../values/json/parse.js';

/** The columns of an event's row, without the key of its session. */
export interface NewEventColumns {
  id: string;
  /** Empty if the event has no `invocationId`. */
  invocationId: string;
  /** JSON text for the column `event_data`. */
  eventData: string;
}

/** The columns of a row that {@link fromEventData} reads. */
export interface EventRowColumns {
  id: string;
  invocationId: string;
  /** JSON text as the column has it; `null` for SQL's NULL. */
  eventData: string | null;
  /** The column `timestamp`, in microseconds since 1970. */
  timeMicros: number;
}

/** An event as the storage returns it. */
export interface DecodedEvent {
  /** The event's JSON: camelCase, times in milliseconds. */
  text: string;
  /** The event's own time, in milliseconds since 1970. */
  timestamp: number;
  /** Only if the event was written with a revision. */
  revision?: number;
}

type MutableObject = Record<string, unknown>;

/** The key of our own data in `event_data`. */
const OWN = 'adk_session_wasm';

/** The value under {@link OWN}. */
interface OwnData {
  /** The event's JSON, if Python's form does not say all of it. */
  event?: string;
  revision?: number;
}

/**
 * Converts an event to the columns of its row.
 *
 * @param text the event's JSON as the storage gets it: camelCase, times in milliseconds, and printed as
 *   {@link writeExactly} does, so that printing it again gives the same text
 * @param revision stored in `event_data`, because the rows have no column for it
 */
export function toEventData(text: string, revision?: number): NewEventColumns {
  const event = parseExactly(text) as MutableObject;
  const { fields, isWhole } = selectForPython(event);
  const id = String(event.id);
  const { invocation_id: given } = fields;
  const invocationId = typeof given === 'string' ? given : '';
  const isComplete = completeForPython(fields, id, invocationId);
  const hasText = !isWhole || !isComplete;
  if (hasText || revision !== undefined) {
    fields[OWN] = {
      ...(hasText && { event: text }),
      ...(revision !== undefined && { revision }),
    } satisfies OwnData;
  }
  return { id, invocationId, eventData: writeExactly(fields) };
}

/**
 * Reads an event back: exactly as we wrote it, or as Python wrote it.
 *
 * Never throws. If the row does not hold the JSON of an event, `text` is what the row holds. The code that
 * parses `text` then reports this record and no other.
 */
export function fromEventData(row: EventRowColumns): DecodedEvent {
  const text = row.eventData ?? 'null';
  const data = parsed(text);
  if (!isPlainObject(data)) {
    const isEmpty = data === null || (Array.isArray(data) && data.length === 0);
    return isEmpty ? storedFrom({}, row) : { text, timestamp: row.timeMicros / 1e3 };
  }
  const own = data[OWN];
  if (!isPlainObject(own)) return storedFrom(data, row);
  const revision = isRevision(own.revision) ? { revision: own.revision } : {};
  if (typeof own.event !== 'string') return { ...storedFrom(data, row), ...revision };
  const event = parsed(own.event);
  const timestamp = isPlainObject(event) ? event.timestamp : undefined;
  return {
    text: own.event,
    timestamp: isTime(timestamp) ? timestamp : row.timeMicros / 1e3,
    ...revision,
  };
}

/**
 * Reads an event from a row of `@google/adk`'s own service. That service uses Python's names, but stores
 * times in milliseconds and omits empty fields.
 */
export function fromAdkEventData(row: EventRowColumns): DecodedEvent {
  const text = row.eventData ?? 'null';
  const data = parsed(text);
  if (!isPlainObject(data)) return { text, timestamp: row.timeMicros / 1e3 };
  const event = withColumns(readNames(data, EVENT) as MutableObject, row);
  return { text: writeExactly(event), timestamp: event.timestamp };
}

function storedFrom(forPython: MutableObject, row: EventRowColumns): DecodedEvent {
  const event = fromPython(forPython, row);
  return { text: writeExactly(event), timestamp: event.timestamp };
}

/**
 * Reads the event itself, for callers that want parsed events instead of JSON text. Rounds an integer that
 * JavaScript cannot hold.
 *
 * @param id the column `id`: Python uses it as the event's id, whatever id the JSON has
 * @returns `undefined` if the JSON is damaged, or lacks a field that another column of the row has
 */
export function parsedEvent(id: string, eventData: string | null): Event | undefined {
  const data = parsedOrRounded(eventData ?? 'null');
  if (!isPlainObject(data)) return undefined;
  const own = data[OWN];
  if (isPlainObject(own) && typeof own.event === 'string') {
    const event = parseEventText(own.event);
    return isTime(event?.timestamp) ? event : undefined;
  }
  const event = fromPython(data, { id });
  const isWhole = event.invocationId !== undefined && isTime(event.timestamp);
  // The writer checked that the fields are an event's.
  return isWhole ? (event as MutableObject as unknown as Event) : undefined;
}

/** Converts Python's form to an event. Takes missing fields from the row's columns. */
function fromPython(
  forPython: MutableObject,
  row: KnownColumns,
): MutableObject & { timestamp: number } {
  const named = readNames(withoutOwnData(forPython), EVENT) as MutableObject;
  return withColumns(eventInMilliseconds(named), row);
}

type KnownColumns = Partial<EventRowColumns> & Pick<EventRowColumns, 'id'>;

function withColumns(
  event: MutableObject,
  { id, invocationId, timeMicros = NaN }: KnownColumns,
): MutableObject & { timestamp: number } {
  // Python uses the column as the event's id, whatever id the JSON has.
  defineMember(event, 'id', id);
  const own = Object.hasOwn(event, 'invocationId') ? event.invocationId : undefined;
  defineMember(event, 'invocationId', own ?? invocationId);
  const timestamp = isTime(event.timestamp) ? event.timestamp : timeMicros / 1e3;
  defineMember(event, 'timestamp', timestamp);
  completeMember(event, 'actions', NO_ACTIONS);
  return event as MutableObject & { timestamp: number };
}

/** Returns the members without our own data, and without a `node_info` that has only the default. */
function withoutOwnData(forPython: MutableObject): MutableObject {
  const isDefault = isDefaultNodeInfo(forPython.node_info);
  const rest: MutableObject = {};
  for (const key of Object.keys(forPython)) {
    if (key !== OWN && !(isDefault && key === 'node_info')) defineMember(rest, key, forPython[key]);
  }
  return rest;
}

/** Whether the `node_info` is the default one, which every event in Python has. */
function isDefaultNodeInfo(nodeInfo: unknown): boolean {
  return isPlainObject(nodeInfo) && nodeInfo.path === '' && Object.keys(nodeInfo).length === 1;
}

/**
 * Adds the fields that every event in Python has.
 *
 * @returns whether reading the fields back gives the members of the event they were made from, and no others
 */
function completeForPython(fields: MutableObject, id: string, invocationId: string): boolean {
  const { timestamp, node_info: nodeInfo } = fields;
  const isHeaded = complete(fields, { id, invocation_id: invocationId, author: '' });
  const hasActions = completeMember(fields, 'actions', NO_PYTHON_ACTIONS);
  const hasPath = completeMember(fields, 'node_info', { path: '' });
  const isNodeInfoRead = nodeInfo === undefined || (hasPath && !isDefaultNodeInfo(nodeInfo));
  return timestamp !== undefined && isHeaded && hasActions && isNodeInfoRead;
}

const NO_ACTIONS: MutableObject = { ...createEventActions() };
const { actions: NO_PYTHON_ACTIONS } = writeNames({ actions: NO_ACTIONS }, EVENT, 'snake') as {
  actions: MutableObject;
};

/** Like {@link complete}, for a member that is an object. Replaces any other value. */
function completeMember(object: MutableObject, name: string, defaults: MutableObject): boolean {
  const given = Object.hasOwn(object, name) ? object[name] : undefined;
  const member = isPlainObject(given) ? given : {};
  if (member !== given) defineMember(object, name, member);
  return complete(member, defaults);
}

/**
 * Gives the object those members of `defaults` that it lacks, behind its own.
 *
 * @returns whether it lacked none
 */
function complete(object: MutableObject, defaults: MutableObject): boolean {
  let isComplete = true;
  for (const name of Object.keys(defaults)) {
    if (Object.hasOwn(object, name)) continue;
    defineMember(object, name, copyJson(defaults[name]));
    isComplete = false;
  }
  return isComplete;
}

/** Parses JSON; `undefined` if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

function parsedOrRounded(text: string): unknown {
  return parsedWellFormed(text) ?? parsedWellFormed(pythonJsonToJson(text));
}

/** An escape that may be half of a surrogate pair. */
const HALF = /\\u[dD][89a-fA-F]/;

/**
 * Parses JSON and replaces lone surrogates. `undefined` if the text is not JSON, or too deep to be printed.
 */
function parsedWellFormed(text: string): unknown {
  try {
    const value: unknown = parseJson(text);
    const mayHaveHalves = text.includes('\\u') && HALF.test(text);
    return mayHaveHalves ? JSON.parse(replaceLoneSurrogates(JSON.stringify(value))) : value;
  } catch {
    return undefined;
  }
}
