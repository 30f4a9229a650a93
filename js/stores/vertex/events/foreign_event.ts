/**
 * Reads events of other clients.
 *
 * The server's `timestamp` and `author` are used, as Google's clients do. Older clients wrote no `rawEvent`:
 * then the event is rebuilt from the fields of the API.
 */
import { readNames } from '../../../values/python/casing.js';
import { EVENT } from '../../../values/python/fields.js';
import { readGoNames } from '../../../values/python/go_names.js';
import { eventInMilliseconds } from '../../../values/python/time.js';
import {
  createEventActions,
  type CreateEventActionsParams,
} from '../../../values/model/event/create_event.js';
import { isPlainObject, type JsonObject } from '../../../values/json/rules.js';

type ForeignFields = Record<string, unknown>;

/** @param timestamp milliseconds since 1970 */
export function readForeignEvent(
  resource: JsonObject,
  timestamp: number,
): ForeignFields & { id: string } {
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
export function membersOrEmpty(value: unknown): JsonObject {
  return isPlainObject(value) ? value : {};
}

/** Returns the object without its members that are `null` or `undefined`. */
export function withoutNulls(object: JsonObject): CreateEventActionsParams {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  );
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
