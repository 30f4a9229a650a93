/** Edits and regenerates turns. A live session loads this module when it first needs it. */
import { invalid } from '../errors/invalid.js';
import { titleOf } from '../model/event/auto_title.js';
import type { Content } from '../model/event/content.js';
import { createEvent, newEventId } from '../model/event/create_event.js';
import type { Event } from '../model/event/event.js';
import { partsOf } from '../model/event/parts.js';
import type { CompositeSessionKey, Session } from '../model/session.js';
import type { SessionService } from '../model/session_service.js';
import { appendRewind } from './rewind.js';
import { firstOfInvocation, indexOfEvent, invocationAt } from './session_history.js';
import { viewOf } from './view.js';

export { branches } from './branches.js';
export { switchBranch } from './rewind.js';

/** A request to undo a turn, so that an agent answers the user's message again. */
export interface TurnRequest extends CompositeSessionKey {
  /** An event of the turn. */
  readonly eventId: string;
  /** Who stores the user's message after the marker. */
  readonly storedBy: 'chat' | 'agent';
}

/**
 * Undoes the turn that a user's message began, and replaces the message.
 *
 * @returns the event of the new message
 */
export function editTurn(
  service: SessionService,
  request: TurnRequest & { readonly content: Content },
): Promise<Event> {
  const { eventId, content } = request;
  return rewindTurn(service, request, (events, start) => {
    const message = events[indexOfEvent(events, eventId)];
    if (message !== undefined && message === messageFrom(events, start)) {
      return { ...message, content };
    }
    throw invalid('eventId', 'must name the message of a user that began its invocation');
  });
}

/**
 * Undoes a turn, so that an agent answers its message again. If the answer has an invocation of its own, the message
 * stays.
 *
 * @returns the event of the message
 */
export function regenerateTurn(service: SessionService, request: TurnRequest): Promise<Event> {
  return rewindTurn(service, request, messageFrom);
}

/**
 * @param repeatedMessage returns the message to store after the marker; `undefined` if it is stored before the turn, and
 *   stays
 */
async function rewindTurn(
  service: SessionService,
  { appName, userId, sessionId, eventId, storedBy }: TurnRequest,
  repeatedMessage: (events: readonly Event[], start: number) => Event | undefined,
): Promise<Event> {
  const key = { appName, userId, sessionId };
  const invocationId = `e-${newEventId()}`;
  const id = newEventId();
  let message: Event | undefined;
  let titleSource: { readonly title: string; readonly undone: Event } | undefined;
  await appendRewind(service, key, (session) => {
    const { events } = session;
    const before = invocationAt(events, 'eventId', { eventId });
    const start = firstOfInvocation(events, before);
    const repeated = repeatedMessage(events, start);
    if (repeated === undefined) {
      message = viewOf(events.slice(0, start), 'transcript').events.findLast(isMessage);
      if (message !== undefined) return { before };
      throw invalid('eventId', 'must name an event after a message of a user');
    }
    const { author, content, actions } = repeated;
    const timestamp = Date.now();
    // Google's programs order events by their times.
    const given = { id, invocationId, author, content, timestamp: timestamp + 1 };
    message = createEvent({ ...given, actions: { stateDelta: { ...actions?.stateDelta } } });
    titleSource = titleSourceOf(session, events[start]!);
    return { before, timestamp, events: storedBy === 'chat' ? [message] : [] };
  });
  if (titleSource !== undefined) {
    const { title, undone } = titleSource;
    // The marker is stored, so the call must not fail if only the title cannot be changed.
    await renewTitle(service, key, title, [undone, message!]).catch(() => undefined);
  }
  return message!;
}

/** Returns a session's title and the undone message, if the title may come from that: it is the first message. */
function titleSourceOf({ title, events }: Session, undone: Event) {
  if (title === undefined) return undefined;
  return viewOf(events, 'transcript').events.find(isMessage) === undone
    ? { title, undone }
    : undefined;
}

/** Makes the title of the new message, if it came from the undone one. */
async function renewTitle(
  service: SessionService,
  key: CompositeSessionKey,
  title: string,
  messages: readonly [undone: Event, message: Event],
): Promise<void> {
  const [before, after] = messages.map((event) => titleOf(JSON.stringify(event)));
  if (before !== title || after === undefined || after === title) return;
  await service.updateSession(key, { title: after });
}

/** Returns the first event of an invocation, if it is a message of the user. */
function messageFrom(events: readonly Event[], start: number): Event | undefined {
  const first = events[start];
  return first !== undefined && isMessage(first) ? first : undefined;
}

/** Whether an event is a message of a user, and not the response of a tool or a changed state. */
function isMessage(event: Event): boolean {
  const parts = partsOf(event);
  return (
    event.author === 'user' && parts.length > 0 && !parts.some((part) => part.functionResponse)
  );
}
