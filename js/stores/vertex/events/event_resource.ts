/**
 * Converts events to and from the SessionEvents of the API.
 *
 * `rawEvent` holds the event as google-adk for Python prints it, in camelCase. The clients of Python and of
 * `@google/adk` both read it. The other fields repeat what the API has names for, which is what Vertex AI
 * itself reads.
 *
 * The API stores objects as protobuf does: numbers are doubles, and keys have no order. So the event's own
 * JSON is stored as text under a key of `customMetadata`, which neither client reads if there is a
 * `rawEvent`. In `rawEvent`, `@google/adk` would show it as a field of the event.
 */
import { isPlainObject, type JsonObject } from '../../../values/json/rules.js';
import {
  createEventActions,
  type CreateEventActionsParams,
} from '../../../values/model/event/create_event.js';
import { isTime } from '../../../values/model/values/time.js';
import { readNames, writeNames } from '../../../values/python/casing.js';
import { EVENT } from '../../../values/python/fields.js';
import { microsToTimeText, parseTime } from '../../../values/python/micros.js';
import { readGoNames } from '../../../values/python/names.js';
import { selectForPython } from '../../../values/python/python_event.js';
import { eventInMilliseconds } from '../../../values/python/time.js';
import { isShared, REMOVED } from '../../../values/state/scope.js';

/** The key of this package's data in `customMetadata`. */
const OWN_DATA_KEY = '_adk_session_wasm';

/** The value under {@link OWN_DATA_KEY}. */
interface OwnEventData {
  readonly id: string;
  /** The event's own time, in milliseconds. */
  readonly timestamp: number;
  /** The event's JSON. */
  readonly event: string;
  /** When the first version of the event was posted, in microseconds; absent for the first version itself. */
  readonly place?: number | undefined;
}

/** An event as the server stores it. */
export interface PostedEvent {
  readonly id: string;
  /** The server's time of the event, in microseconds. The server orders events by it. */
  readonly postedAt: number;
  /** `postedAt` of the event that this one replaces; `undefined` if it replaces none. */
  readonly firstPostedAt: number | undefined;
  /** The event's own time, in milliseconds. */
  readonly timestamp: number;
  /** The event's JSON. */
  readonly text: string;
}

/** Formats a time in microseconds as the API does. */
export function apiTime(micros: number): string {
  return `${microsToTimeText(micros).replace(' ', 'T')}Z`;
}

/**
 * Makes the resource to post.
 *
 * @param text the event's JSON: camelCase, milliseconds
 * @param postedAt microseconds
 * @param firstPostedAt see {@link PostedEvent.firstPostedAt}
 * @param sharesState `false`: only the event's own JSON has the `user:` and `app:` keys of its delta
 */
export function toEventResource(
  text: string,
  postedAt: number,
  firstPostedAt: number | undefined,
  sharesState = true,
): JsonObject {
  const event = JSON.parse(text) as JsonObject;
  if (!sharesState) removeSharedKeys(event);
  const id = String(event.id);
  const { fields: pythonJson } = selectForPython(event);
  const pythonEventFields = readNames(pythonJson, EVENT) as JsonObject;
  const pythonActions = membersOrEmpty(pythonEventFields.actions);
  const own: OwnEventData = {
    id,
    timestamp: Number(event.timestamp),
    event: text,
    place: firstPostedAt,
  };
  return {
    author: nonEmptyText(event.author) ?? 'user',
    invocationId: nonEmptyText(event.invocationId) ?? `inv-${id}`,
    timestamp: apiTime(postedAt),
    ...withoutNulls({
      content: apiContent(pythonEventFields.content),
      ...pick(pythonEventFields, ERROR_FIELDS),
    }),
    actions: {
      ...pick(pythonActions, ACTION_FIELDS),
      ...withoutNulls({ transferAgent: pythonActions.transferToAgent }),
      stateDelta: apiDelta(event.actions),
    },
    eventMetadata: {
      ...apiMetadata(pythonEventFields),
      customMetadata: customMetadata(pythonEventFields, own),
    },
    rawEvent: rawEvent(event, { ...pythonEventFields, ...snakeCaseFields(pythonJson) }, id),
  };
}

function removeSharedKeys({ actions }: JsonObject): void {
  const delta = isPlainObject(actions) ? actions.stateDelta : undefined;
  if (!isPlainObject(delta)) return;
  for (const key of Object.keys(delta).filter(isShared)) Reflect.deleteProperty(delta, key);
}

/** Returns the whole delta, even values that nest too deep for Python. A removed key is `null`. */
function apiDelta(actions: unknown): JsonObject {
  const delta = isPlainObject(actions) ? actions.stateDelta : undefined;
  if (!isPlainObject(delta)) return {};
  const entries = Object.entries(delta);
  return Object.fromEntries(entries.map(([key, value]) => [key, value === REMOVED ? null : value]));
}

/** Returns the fields that Python accepts in snake_case only. */
function snakeCaseFields(pythonJson: JsonObject): JsonObject {
  const { cache_metadata: cacheMetadata } = pythonJson;
  return withoutNulls({ cacheMetadata });
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
/** Fields of `@google/adk`, which Python ignores. Their times are milliseconds. */
const PEER_FIELDS = ['isCompacted', 'startTime', 'endTime', 'compactedContent', 'isScratchpad'];

function rawEvent(event: JsonObject, pythonEventFields: JsonObject, id: string): JsonObject {
  return {
    ...pick(event, PEER_FIELDS),
    ...pythonEventFields,
    id,
    invocationId: pythonEventFields.invocationId ?? '',
    author: pythonEventFields.author ?? '',
    actions: createEventActions(membersOrEmpty(pythonEventFields.actions)),
    nodeInfo: {
      path: '',
      ...(isPlainObject(pythonEventFields.nodeInfo) && pythonEventFields.nodeInfo),
    },
  };
}

/** The fields of the API's parts. The API refuses all others. */
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

function apiContent(content: unknown): JsonObject | undefined {
  if (!isPlainObject(content)) return undefined;
  const given = Array.isArray(content.parts) ? (content.parts as unknown[]) : [];
  const parts = given
    .filter(isPlainObject)
    .map((part) => pick(part, PART_FIELDS))
    .filter((part) => Object.keys(part).length > 0);
  return parts.length === 0 ? undefined : { ...pick(content, ['role']), parts };
}

function apiMetadata(pythonEventFields: JsonObject): JsonObject {
  const transcriptions = Object.entries(
    pick(pythonEventFields, ['inputTranscription', 'outputTranscription']),
  );
  return {
    ...pick(pythonEventFields, METADATA_FIELDS),
    ...Object.fromEntries(
      transcriptions.map(([name, value]) => [
        name,
        pick(value as JsonObject, ['text', 'finished']),
      ]),
    ),
  };
}

/** Adds the fields that Python stores here, for clients that do not read `rawEvent`. */
function customMetadata(pythonEventFields: JsonObject, own: OwnEventData): JsonObject {
  const { customMetadata, usageMetadata, actions } = pythonEventFields;
  const compaction = isPlainObject(actions) ? actions.compaction : undefined;
  const snakeCase = writeNames({ usageMetadata, actions: { compaction } }, EVENT, 'snake') as {
    usage_metadata?: unknown;
    actions: { compaction?: unknown };
  };
  return {
    ...(isPlainObject(customMetadata) && customMetadata),
    ...withoutNulls({
      _usage_metadata: snakeCase.usage_metadata,
      _compaction: snakeCase.actions.compaction,
    }),
    [OWN_DATA_KEY]: own,
  };
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  const own = names.filter((name) => Object.hasOwn(object, name));
  return withoutNulls(Object.fromEntries(own.map((name) => [name, object[name]])));
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Reads an event: one of this package exactly as it was written, or one of another client.
 *
 * Never throws. If the resource is not an event, `text` still holds its JSON. The parser then reports only
 * this record as corrupt.
 */
export function fromEventResource(resource: unknown): PostedEvent {
  const given = membersOrEmpty(resource);
  const postedAt = parseTime(given.timestamp) ?? 0;
  const own = readOwnData(given);
  if (own !== undefined) {
    return {
      id: own.id,
      postedAt,
      firstPostedAt: own.place,
      timestamp: own.timestamp,
      text: own.event,
    };
  }
  const event = readForeignEvent(given, postedAt / 1000);
  return {
    id: event.id,
    postedAt,
    firstPostedAt: undefined,
    timestamp: postedAt / 1000,
    text: JSON.stringify(event),
  };
}

function readOwnData({ eventMetadata }: JsonObject): OwnEventData | undefined {
  const own = membersOrEmpty(membersOrEmpty(eventMetadata).customMetadata)[OWN_DATA_KEY];
  if (!isPlainObject(own)) return undefined;
  const { id, timestamp, event, place } = own;
  if (typeof id !== 'string' || typeof event !== 'string' || !isTime(timestamp)) return undefined;
  return { id, timestamp, event, place: Number.isSafeInteger(place) ? Number(place) : undefined };
}

// Reads events of other clients.
//
// The server's `timestamp` and `author` are used, as Google's clients do. Older clients wrote no `rawEvent`:
// then the event is rebuilt from the fields of the API.

type ForeignFields = Record<string, unknown>;

/** @param timestamp milliseconds since 1970 */
function readForeignEvent(resource: JsonObject, timestamp: number): ForeignFields & { id: string } {
  const raw = resource.rawEvent;
  const isRaw = isPlainObject(raw) && Object.keys(raw).length > 0;
  const fields = isRaw ? readRawEvent(raw, timestamp) : readApiFields(resource);
  const { id, invocationId, author, actions, nodeInfo, ...rest } = fields;
  const hasPath = isPlainObject(nodeInfo) && JSON.stringify(nodeInfo) !== '{"path":""}';
  return {
    ...rest,
    ...(hasPath && { nodeInfo }),
    id: textOrEmpty(id) || idFromName(resource.name),
    invocationId: textOrEmpty(invocationId) || textOrEmpty(resource.invocationId),
    author: textOrEmpty(resource.author) || textOrEmpty(author),
    timestamp,
    actions: createEventActions(membersOrEmpty(actions)),
  };
}

/** Returns the last segment of a resource's name, which is its id. */
export function idFromName(name: unknown): string {
  return textOrEmpty(name).split('/').at(-1) ?? '';
}

/** Python writes seconds and `@google/adk` milliseconds: the unit is the one closer to the server's time. */
function readRawEvent(raw: JsonObject, timestamp: number): ForeignFields {
  const event = readNames(readGoNames(raw), EVENT) as ForeignFields;
  const { timestamp: eventTime } = event;
  if (typeof eventTime !== 'number') return event;
  const isSeconds = Math.abs(eventTime * 1000 - timestamp) <= Math.abs(eventTime - timestamp);
  return isSeconds ? eventInMilliseconds(event) : event;
}

function readApiFields(resource: JsonObject): ForeignFields {
  const { content, actions, errorCode, errorMessage, eventMetadata } = resource;
  const { customMetadata, usageMetadata, ...metadata } = membersOrEmpty(eventMetadata);
  const { _compaction, _usage_metadata, _workflow, ...userMetadata } =
    membersOrEmpty(customMetadata);
  const { transferAgent, transferToAgent, ...apiActions } = membersOrEmpty(actions);
  const { agentState, endOfAgent, ...nodeFields } = membersOrEmpty(_workflow);
  const actionFields: ForeignFields = {
    ...apiActions,
    transferToAgent: transferAgent ?? transferToAgent,
    agentState: agentState ?? apiActions.agentState,
    endOfAgent: endOfAgent ?? apiActions.endOfAgent,
  };
  const event: ForeignFields = {
    // The server shows a missing content as an empty one.
    ...(Object.keys(membersOrEmpty(content)).length > 0 && { content }),
    errorCode,
    errorMessage,
    ...metadata,
    usageMetadata: _usage_metadata ?? usageMetadata,
    ...nodeFields,
    ...(Object.keys(userMetadata).length > 0 && { customMetadata: userMetadata }),
  };
  if (isPlainObject(_compaction)) {
    // `@google/adk` writes milliseconds under its own names; Python writes seconds.
    if (Object.hasOwn(_compaction, 'startTime')) {
      Object.assign(event, { isCompacted: true, ..._compaction });
    } else actionFields.compaction = _compaction;
  }
  const converted = readNames(
    { ...withoutNulls(event), actions: withoutNulls(actionFields) },
    EVENT,
  ) as ForeignFields;
  return event.isCompacted === true ? converted : eventInMilliseconds(converted);
}

/** Returns the members of an object; none if the server left the object out. */
function membersOrEmpty(value: unknown): JsonObject {
  return isPlainObject(value) ? value : {};
}

/** Returns the object without its members that are `null` or `undefined`. */
function withoutNulls(object: JsonObject): CreateEventActionsParams {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  );
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
