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
import type { Json } from '../rest/rest.js';

type Fields = Record<string, unknown>;

/** @param timestamp milliseconds since 1970 */
export function foreignEvent(resource: Json, timestamp: number): Fields & { id: string } {
  const raw = resource.rawEvent;
  const isRaw = isPlainObject(raw) && Object.keys(raw).length > 0;
  const given = isRaw ? fromRaw(raw, timestamp) : fromFields(resource);
  const { id, invocationId, author, actions, ...rest } = given;
  const hasPath = isPlainObject(rest.nodeInfo) && JSON.stringify(rest.nodeInfo) !== '{"path":""}';
  if (!hasPath) delete rest.nodeInfo;
  return {
    ...rest,
    id: textOf(id) || lastSegment(resource.name),
    invocationId: textOf(invocationId) || textOf(resource.invocationId),
    author: textOf(resource.author) || textOf(author),
    timestamp,
    actions: createEventActions(isPlainObject(actions) ? actions : {}),
  };
}

/** The last part of a resource's name, which is its id. */
export function lastSegment(name: unknown): string {
  return textOf(name).split('/').at(-1) ?? '';
}

/** Python counts seconds and `@google/adk` milliseconds; which it is, the server's time of the event tells. */
function fromRaw(raw: Json, timestamp: number): Fields {
  const event = readNames(raw, EVENT) as Fields;
  const { timestamp: own } = event;
  if (typeof own !== 'number') return event;
  const isSeconds = Math.abs(own * 1000 - timestamp) <= Math.abs(own - timestamp);
  return isSeconds ? inMilliseconds(event) : event;
}

function inMilliseconds(event: Json): Fields {
  return withTimes(event, (time) => (typeof time === 'number' ? toMilliseconds(time) : time));
}

function fromFields({ content, actions, errorCode, errorMessage, eventMetadata }: Json): Fields {
  const { customMetadata, ...metadata } = isPlainObject(eventMetadata) ? eventMetadata : {};
  const {
    _compaction: compaction,
    _usage_metadata: usageMetadata,
    _workflow: workflow,
    ...custom
  } = isPlainObject(customMetadata) ? customMetadata : {};
  const { transferAgent, ...given } = isPlainObject(actions) ? actions : {};
  const { agentState, endOfAgent, ...ofNode } = isPlainObject(workflow) ? workflow : {};
  const ofActions: Fields = {
    ...given,
    transferToAgent: transferAgent ?? given.transferToAgent,
    agentState: agentState ?? given.agentState,
    endOfAgent: endOfAgent ?? given.endOfAgent,
  };
  const event: Fields = {
    // One that was not given is an empty one there.
    ...(isPlainObject(content) && Object.keys(content).length > 0 && { content }),
    errorCode,
    errorMessage,
    ...metadata,
    usageMetadata: usageMetadata ?? metadata.usageMetadata,
    ...ofNode,
    ...(Object.keys(custom).length > 0 && { customMetadata: custom }),
  };
  if (isPlainObject(compaction)) {
    // Milliseconds under names of its own are @google/adk's; seconds are Python's.
    if ('startTime' in compaction) Object.assign(event, { isCompacted: true, ...compaction });
    else ofActions.compaction = compaction;
  }
  const read = readNames({ ...present(event), actions: present(ofActions) }, EVENT) as Fields;
  return event.isCompacted === true ? read : inMilliseconds(read);
}

function present(object: Json): CreateEventActionsParams {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
