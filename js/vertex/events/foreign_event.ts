/**
 * An event of another client's, as this package has events.
 *
 * The server's `timestamp` is the event's time, and its `author` the author, for google's clients too. What
 * is not there is rebuilt from the fields that the API has, as older clients left it.
 */
import { readNames } from '../../python/casing.js';
import { EVENT } from '../../python/fields.js';
import { toMilliseconds, withTimes } from '../../python/time.js';
import { createEventActions, type CreateEventActionsParams } from '../../model/event.js';
import { isPlainObject } from '../../json/rules.js';
import { ownMembers } from '../../members/own.js';
import type { Json } from '../rest/rest.js';

type Fields = Record<string, unknown>;

/** @param timestamp milliseconds since 1970 */
export function foreignEvent(resource: Json, timestamp: number): Fields & { id: string } {
  const raw = resource.rawEvent;
  const isRaw = isPlainObject(raw) && Object.keys(raw).length > 0;
  const given = ownMembers(isRaw ? fromRaw(raw, timestamp) : fromFields(resource));
  const { id, invocationId, author, actions, nodeInfo, ...rest } = given;
  const hasPath = isPlainObject(nodeInfo) && JSON.stringify(nodeInfo) !== '{"path":""}';
  return {
    ...rest,
    ...(hasPath && { nodeInfo }),
    id: textOf(id) || lastSegment(resource.name),
    invocationId: textOf(invocationId) || textOf(resource.invocationId),
    author: textOf(resource.author) || textOf(author),
    timestamp,
    actions: createEventActions(membersOf(actions)),
  };
}

/** The last part of a resource's name, which is its id. */
export function lastSegment(name: unknown): string {
  return textOf(name).split('/').at(-1) ?? '';
}

/** Python counts seconds and `@google/adk` milliseconds; which it is, the server's time of the event tells. */
function fromRaw(raw: Json, timestamp: number): Fields {
  const event = readNames(raw, EVENT) as Fields;
  const { timestamp: own } = ownMembers(event);
  if (typeof own !== 'number') return event;
  const isSeconds = Math.abs(own * 1000 - timestamp) <= Math.abs(own - timestamp);
  return isSeconds ? inMilliseconds(event) : event;
}

function inMilliseconds(event: Json): Fields {
  return withTimes(event, (time) => (typeof time === 'number' ? toMilliseconds(time) : time));
}

function fromFields(resource: Json): Fields {
  const { content, actions, errorCode, errorMessage, eventMetadata } = resource;
  const { customMetadata, usageMetadata, ...metadata } = membersOf(eventMetadata);
  const { _compaction, _usage_metadata, _workflow, ...custom } = membersOf(customMetadata);
  const { transferAgent, transferToAgent, ...ofAgent } = membersOf(actions);
  const { agentState, endOfAgent, ...ofNode } = membersOf(_workflow);
  const given = ownMembers(ofAgent);
  const ofActions: Fields = {
    ...given,
    transferToAgent: transferAgent ?? transferToAgent,
    agentState: agentState ?? given.agentState,
    endOfAgent: endOfAgent ?? given.endOfAgent,
  };
  const event: Fields = {
    // One that was not given is an empty one there.
    ...(Object.keys(membersOf(content)).length > 0 && { content }),
    errorCode,
    errorMessage,
    ...metadata,
    usageMetadata: _usage_metadata ?? usageMetadata,
    ...ofNode,
    ...(Object.keys(custom).length > 0 && { customMetadata: custom }),
  };
  if (isPlainObject(_compaction)) {
    // Milliseconds under names of its own are @google/adk's; seconds are Python's.
    if (Object.hasOwn(_compaction, 'startTime')) {
      Object.assign(event, { isCompacted: true, ..._compaction });
    } else ofActions.compaction = _compaction;
  }
  const read = readNames({ ...present(event), actions: present(ofActions) }, EVENT) as Fields;
  return ownMembers(event).isCompacted === true ? read : inMilliseconds(read);
}

/** The members of an object that the server may have left out. */
export function membersOf(value: unknown): Json {
  return ownMembers(isPlainObject(value) ? value : {});
}

function present(object: Json): CreateEventActionsParams {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
