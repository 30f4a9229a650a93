/**
 * Copies the objects that callers pass. A store calls its service later, when the caller may have changed an object.
 */
import { requestError } from '../../../core/call/call.js';
import { isSessionError } from '../../../values/errors/errors.js';
import { requireObject } from '../../../values/errors/option_values.js';
import { isObject } from '../../../values/json/rules.js';
import { rawOf } from '../../../values/members.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import type { Event } from '../../../values/model/event/event.js';
import { partsOf, takeContent } from '../../../values/model/event/parts.js';
import { snapshotEvent } from '../../../values/model/event/snapshot.js';
import { snapshotDelta } from '../../../values/state/delta.js';
import type { SentEvent } from './run_context.js';

/**
 * Copies an event, and fills in its missing members. The copy shares only the values of `temp:` keys.
 *
 * @param author that of an event without one
 */
export function copyEvent(proxied: SentEvent, author?: string): Event {
  try {
    requireObject('event', proxied);
    // Reading an event through Vue's deep proxies takes longer than appending it.
    const given = rawOf<SentEvent>(proxied);
    const { id = '', timestamp = Date.now(), invocationId = `e-${newEventId()}`, actions } = given;
    const event = { ...given, invocationId, timestamp, id: id === '' ? newEventId() : id } as Event;
    if (author !== undefined && !event.author) event.author = author;
    if (actions !== undefined) event.actions = { ...actions };
    return deepCopyOf(event);
  } catch (thrown) {
    throw requestError(thrown);
  }
}

/**
 * Copies a partial event of a streamed answer as {@link copyEvent} does. Its texts keep halves of surrogate pairs,
 * since the next partial event may have the other half.
 *
 * @throws SessionError `unserializable`
 */
export function copyPartial(given: SentEvent, author?: string): Event {
  const partial = copyEvent(given, author);
  // A partial event is told to others as JSON.
  snapshotEvent({ ...partial }, Date.now, newEventId);
  const { content } = rawOf(given);
  const taken = takeContent(content ?? {}, partial.author);
  const texts = partsOf({ content: taken }).map(({ text }) => text);
  partsOf(partial).forEach((part, index) => {
    const text = texts[index];
    // A copy has one character in place of each half.
    if (text !== undefined && part.text?.length === text.length) part.text = text;
  });
  return partial;
}

function deepCopyOf(event: Event): Event {
  try {
    const { text, temp } = snapshotEvent(event, Date.now, newEventId);
    const copy = JSON.parse(text) as Event;
    Object.assign(copy.actions.stateDelta, temp);
    return copy;
  } catch (error) {
    if (!isSessionError(error, 'unserializable')) throw error;
    // The service refuses the event too. It is shown with this error.
    return event;
  }
}

/**
 * Copies a state or a delta without its `temp:` keys. Returns a value that is no object as it is.
 *
 * @param name the name to use in errors
 * @throws SessionError as the service does
 */
export function copyState<Given>(given: Given, name?: string): Given {
  return isObject(given) ? (JSON.parse(snapshotDelta(given, name).text) as Given) : given;
}
