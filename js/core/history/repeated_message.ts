/** The message that follows the rewind of a turn. */
import { invalid } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import { isFilled } from '../../values/model/event/markers.js';
import { partsOf } from '../../values/model/event/parts.js';
import { firstOfInvocation, indexOfEvent, invocationAt } from './session_history.js';
import type { SourceSession } from './states.js';
import { activeEvents } from './rules/view.js';

/** Events in which a turn is looked for. */
type Events = Pick<SourceSession, 'events' | 'olderInvocations'>;

/**
 * Returns the message of the user that an edit replaces.
 *
 * @throws SessionError `not_found`, `invalid_argument`
 */
export function editedEvent({ events }: Events, eventId: string): Event {
  const message = events[indexOfEvent(events, eventId)]!;
  const { invocationId } = message;
  const isFirst = isFilled(invocationId) && firstContentOf(events, invocationId) === message;
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
export function answeredEvent({ events, olderInvocations }: Events, eventId: string): Event {
  let invocation: string | undefined = invocationAt(events, 'eventId', { eventId });
  while (invocation !== undefined) {
    const began = beginningByUser(events, invocation);
    if (began !== undefined) return began;
    // The user's event has an invocation of its own, before that of the agent.
    const earlier = events.slice(0, firstOfInvocation(events, invocation));
    invocation = activeEvents(earlier, olderInvocations).findLast(isOfUser)?.invocationId;
  }
  throw invalid('eventId', 'must name an event after a message of a user');
}

/** Returns the event that began an invocation, if it is a user's. */
export function beginningByUser(events: readonly Event[], invocation: string): Event | undefined {
  const began = firstContentOf(events, invocation);
  return began !== undefined && isOfUser(began) ? began : undefined;
}

/** Returns the first event with content of an invocation. */
function firstContentOf(events: readonly Event[], invocation: string): Event | undefined {
  return events.find((event) => event.invocationId === invocation && partsOf(event).length > 0);
}

/** Whether an event is a message or an answer of a user, in an invocation. */
export function isOfUser(event: Event): boolean {
  return event.author === 'user' && isFilled(event.invocationId) && partsOf(event).length > 0;
}

/** Whether an event is a message of a user, and not the response of a tool or a changed state. */
function isMessage(event: Event): boolean {
  const parts = partsOf(event);
  return (
    event.author === 'user' && parts.length > 0 && !parts.some((part) => part.functionResponse)
  );
}
