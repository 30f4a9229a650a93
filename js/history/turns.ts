/** Turns that a page edits or has answered again. Loaded when a live session first needs it. */
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

/** A turn that is undone, so that the user's message is answered again. */
export interface TurnRequest extends CompositeSessionKey {
  /** An event of the turn. */
  readonly eventId: string;
  /** Who stores the user's message after the marker. */
  readonly storedBy: 'chat' | 'agent';
}

/** Undoes the turn that a user's message began, for another message. Returns the event of that. */
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
 * Undoes a turn, for another answer to its message. If the answer has an invocation of its own, the message stays.
 *
 * @returns the event of the message
 */
export function regenerateTurn(service: SessionService, request: TurnRequest): Promise<Event> {
  return rewindTurn(service, request, messageFrom);
}

/**
 * @param repeated returns the message that is stored after the marker; `undefined` if the one before the turn stays
 */
async function rewindTurn(
  service: SessionService,
  { appName, userId, sessionId, eventId, storedBy }: TurnRequest,
  repeated: (events: readonly Event[], start: number) => Event | undefined,
): Promise<Event> {
  const key = { appName, userId, sessionId };
  const invocationId = `e-${newEventId()}`;
  const id = newEventId();
  let message: Event | undefined;
  let titled: { readonly title: string; readonly undone: Event } | undefined;
  await appendRewind(service, key, (session) => {
    const { events } = session;
    const before = invocationAt(events, 'eventId', { eventId });
    const start = firstOfInvocation(events, before);
    const found = repeated(events, start);
    if (found === undefined) {
      message = viewOf(events.slice(0, start), 'transcript').events.findLast(isMessage);
      if (message !== undefined) return { before };
      throw invalid('eventId', 'must name an event after a message of a user');
    }
    const { author, content, actions } = found;
    const timestamp = Date.now();
    // Google's programs order events by their times.
    const given = { id, invocationId, author, content, timestamp: timestamp + 1 };
    message = createEvent({ ...given, actions: { stateDelta: { ...actions?.stateDelta } } });
    titled = titledBy(session, events[start]!);
    return { before, timestamp, events: storedBy === 'chat' ? [message] : [] };
  });
  if (titled !== undefined) {
    const { title, undone } = titled;
    // The marker is stored, so a title that stays fails nothing.
    await followTitle(service, key, title, [undone, message!]).catch(() => undefined);
  }
  return message!;
}

/** Returns the title of a session, and the undone message if it is the first: the title may come from it. */
function titledBy({ title, events }: Session, undone: Event) {
  if (title === undefined) return undefined;
  return viewOf(events, 'transcript').events.find(isMessage) === undone
    ? { title, undone }
    : undefined;
}

/** Changes the title if it came from the undone message. */
async function followTitle(
  service: SessionService,
  key: CompositeSessionKey,
  title: string,
  messages: readonly [undone: Event, message: Event],
): Promise<void> {
  const [before, after] = messages.map((event) => titleOf(JSON.stringify(event)));
  if (before !== title || after === undefined || after === title) return;
  await service.updateSession(key, { title: after });
}

/** Returns the user's message with which an invocation begins, if it does. */
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
