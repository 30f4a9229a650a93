/**
 * One event, to and from a SessionEvent of the API.
 *
 * `rawEvent` holds the event as google-adk for Python prints it, in camelCase: Python's and `@google/adk`'s
 * clients both read it from there. The other fields say the same as far as the API has names for it, which
 * is what Vertex AI itself looks at.
 *
 * The API keeps objects as protobuf does: numbers are doubles and keys have no order. Our own JSON of the
 * event therefore stands beside, as text, under a key of `customMetadata`, which neither client looks at
 * where there is a `rawEvent`. In `rawEvent` itself `@google/adk` would show it as a field of the event.
 */
import { timeText, parseTime } from '../../python/micros.js';
import { pythonEvent } from '../../python/python_event.js';
import { readNames, writeNames } from '../../python/casing.js';
import { EVENT } from '../../python/fields.js';
import { toSeconds, withTimes } from '../../python/time.js';
import { createEventActions } from '../../model/event.js';
import { ownMembers } from '../../members/own.js';
import { isPlainObject } from '../../json/rules.js';
import { REMOVED } from '../../state/scope.js';
import { isTime } from '../../model/snapshot.js';
import { foreignEvent, membersOf } from './foreign_event.js';
import type { Json } from '../rest/rest.js';

/** The key for what is ours in `customMetadata`. */
export const OWN = '_adk_session_wasm';

/** What stands under {@link OWN}. */
interface OwnData {
  readonly id: string;
  /** The event's own, in milliseconds. */
  readonly timestamp: number;
  /** The event's JSON. */
  readonly event: string;
  /** Where it stands, if it is not the first of its id: the first one's time in microseconds. */
  readonly place?: number | undefined;
}

/** An event as the server has it. */
export interface PostedEvent {
  readonly id: string;
  /** When the server was told that it is, in microseconds; what it orders events by. */
  readonly posted: number;
  /** `posted` of the event whose place it takes, if that is another one. */
  readonly place: number | undefined;
  /** The event's own, in milliseconds. */
  readonly timestamp: number;
  /** The event's JSON. */
  readonly text: string;
}

/** A time in microseconds as the API has it. */
export function apiTime(micros: number): string {
  return `${timeText(micros).replace(' ', 'T')}Z`;
}

/**
 * What is sent.
 *
 * @param text the event's JSON: camelCase, milliseconds
 * @param posted microseconds
 * @param place see {@link PostedEvent.place}
 */
export function toEventResource(text: string, posted: number, place: number | undefined): Json {
  const event = ownMembers(JSON.parse(text) as Json);
  const id = String(event.id);
  const forPython = pythonPart(event);
  const known = ownMembers(readNames(forPython, EVENT) as Json);
  const knownActions = membersOf(known.actions);
  const own: OwnData = {
    id,
    timestamp: Number(event.timestamp),
    event: text,
    place,
  };
  return {
    author: nonEmpty(event.author) ?? 'user',
    invocationId: nonEmpty(event.invocationId) ?? `inv-${id}`,
    timestamp: apiTime(posted),
    ...members({ content: apiContent(known.content), ...picked(known, ERROR_FIELDS) }),
    actions: {
      ...picked(knownActions, ACTION_FIELDS),
      ...members({ transferAgent: knownActions.transferToAgent }),
      stateDelta: apiDelta(event.actions),
    },
    eventMetadata: { ...apiMetadata(known), customMetadata: customMetadata(known, own) },
    rawEvent: rawEvent(event, ownMembers({ ...known, ...snakeMembers(forPython) }), id),
  };
}

/** All of it, also what is nested too deep for Python. A key of a state that was removed is `null`. */
function apiDelta(actions: unknown): Json {
  const delta = isPlainObject(actions) ? actions.stateDelta : undefined;
  if (!isPlainObject(delta)) return {};
  const entries = Object.entries(delta);
  return Object.fromEntries(entries.map(([key, value]) => [key, value === REMOVED ? null : value]));
}

/** What of it Python reads, in snake_case and seconds. A key of a state that was removed is `null`. */
function pythonPart(event: Json): Json {
  return pythonEvent(withTimes(event, (time) => (isTime(time) ? toSeconds(time) : null)));
}

/** What Python reads in snake_case alone, and refuses else. */
function snakeMembers(forPython: Json): Json {
  const { cache_metadata: cacheMetadata } = ownMembers(forPython);
  return members({ cacheMetadata });
}

const ERROR_FIELDS = ['errorCode', 'errorMessage'];
const ACTION_FIELDS = ['artifactDelta', 'skipSummarization', 'escalate', 'requestedAuthConfigs'];
const METADATA_FIELDS = [
  'turnComplete',
  'interrupted',
  'branch',
  'longRunningToolIds',
  'groundingMetadata',
];
/** Of `@google/adk`, and unknown to Python, which passes over them. Times are milliseconds for that one. */
const PEER_FIELDS = ['isCompacted', 'startTime', 'endTime', 'compactedContent', 'isScratchpad'];

function rawEvent(event: Json, known: Json, id: string): Json {
  return {
    ...picked(event, PEER_FIELDS),
    ...known,
    id,
    invocationId: known.invocationId ?? '',
    author: known.author ?? '',
    actions: createEventActions(membersOf(known.actions)),
    nodeInfo: { path: '', ...(isPlainObject(known.nodeInfo) && known.nodeInfo) },
  };
}

/** The API's parts have no others; unknown ones are refused. */
const PART_FIELDS = [
  'text',
  'thought',
  'thoughtSignature',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'videoMetadata',
];

function apiContent(content: unknown): Json | undefined {
  if (!isPlainObject(content)) return undefined;
  const given = Array.isArray(content.parts) ? (content.parts as unknown[]) : [];
  const parts = given
    .filter(isPlainObject)
    .map((part) => picked(part, PART_FIELDS))
    .filter((part) => Object.keys(part).length > 0);
  return parts.length === 0 ? undefined : { ...picked(content, ['role']), parts };
}

function apiMetadata(known: Json): Json {
  const transcriptions = Object.entries(
    picked(known, ['inputTranscription', 'outputTranscription']),
  );
  return {
    ...picked(known, METADATA_FIELDS),
    ...Object.fromEntries(
      transcriptions.map(([name, value]) => [name, picked(value as Json, ['text', 'finished'])]),
    ),
  };
}

/** As Python has it beside: for readers that know no `rawEvent`. */
function customMetadata(known: Json, own: OwnData): Json {
  const { customMetadata, usageMetadata, actions } = known;
  const compaction = isPlainObject(actions) ? actions.compaction : undefined;
  const inSnake = writeNames({ usageMetadata, actions: { compaction } }, EVENT, 'snake') as {
    usage_metadata?: unknown;
    actions: { compaction?: unknown };
  };
  return {
    ...(isPlainObject(customMetadata) && customMetadata),
    ...members({
      _usage_metadata: inSnake.usage_metadata,
      _compaction: inSnake.actions.compaction,
    }),
    [OWN]: own,
  };
}

function picked(object: Json, names: readonly string[]): Json {
  const own = names.filter((name) => Object.hasOwn(object, name));
  return members(Object.fromEntries(own.map((name) => [name, object[name]])));
}

function members(object: Json): Json {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  );
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Back: an event that we wrote as it was, to the letter, or one of another client's.
 *
 * Never throws: where it is no event, its `text` is that of what there is, so that whoever parses it reports
 * that record and no other.
 */
export function fromEventResource(resource: unknown): PostedEvent {
  const given = membersOf(resource);
  const posted = parseTime(given.timestamp) ?? 0;
  const own = ownDataOf(given);
  if (own !== undefined) {
    return { id: own.id, posted, place: own.place, timestamp: own.timestamp, text: own.event };
  }
  const event = foreignEvent(given, posted / 1000);
  return {
    id: event.id,
    posted,
    place: undefined,
    timestamp: posted / 1000,
    text: JSON.stringify(event),
  };
}

function ownDataOf({ eventMetadata }: Json): OwnData | undefined {
  const own = membersOf(membersOf(eventMetadata).customMetadata)[OWN];
  if (!isPlainObject(own)) return undefined;
  const { id, timestamp, event, place } = ownMembers(own);
  if (typeof id !== 'string' || typeof event !== 'string' || !isTime(timestamp)) return undefined;
  return { id, timestamp, event, place: Number.isSafeInteger(place) ? Number(place) : undefined };
}
