/** The message that follows the rewind of a turn. */
import { invalid } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import { partsOf } from '../../values/model/event/parts.js';
import { isFilled } from '../../values/model/event/markers.js';
import { firstOfInvocation, indexOfEvent, invocationAt } from './session_history.js';
import { activeEvents } from './view.js';

/**
 * Returns the message of the user that an edit replaces.
 *
 * @throws SessionError `not_found`, `invalid_argument`
 */
export function editedEvent(events: readonly Event[], eventId: string): Event {
  const message = events[indexOfEvent(events, eventId)]!;
  const isFirst = isFilled(message.invocationId) && firstContentOf(events, message) === message;
  if (isFirst && isMessage(message)) return message;
  throw invalid('eventId', 'must name the message of a user that began its invocation');
}

/**
 * Returns the event of the user that a turn answers: a message, or an answer to a call that has an invocation of its
 * own. It began its invocation.
 *
 * @param eventId any event of the turn
 * @throws SessionError `not_found`, `invalid_argument`
 */
export function answeredEvent(events: readonly Event[], eventId: string): Event {
  const invocation = invocationAt(events, 'eventId', { eventId });
  let first: Event | undefined = events[firstOfInvocation(events, invocation)];
  while (first !== undefined) {
    const began = firstContentOf(events, first);
    if (began !== undefined && isOfUser(began)) return began;
    // The user's event has an invocation of its own, before that of the agent.
    const start = firstOfInvocation(events, first.invocationId);
    first = activeEvents(events.slice(0, start)).findLast(isOfUser);
  }
  throw invalid('eventId', 'must name an event after a message of a user');
}

/** Returns the first event with content of an event's invocation. */
function firstContentOf(events: readonly Event[], { invocationId }: Event): Event | undefined {
  return events.find((event) => event.invocationId === invocationId && partsOf(event).length > 0);
}

/** Whether an event is a message or an answer of a user, in an invocation. */
function isOfUser(event: Event): boolean {
  return event.author === 'user' && isFilled(event.invocationId) && partsOf(event).length > 0;
}

/** Whether an event is a message of a user, and not the response of a tool or a changed state. */
function isMessage(event: Event): boolean {
  const parts = partsOf(event);
  return (
    event.author === 'user' && parts.length > 0 && !parts.some((part) => part.functionResponse)
  );
}
