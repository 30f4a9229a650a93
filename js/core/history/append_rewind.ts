/** Computes rewinds from the whole session, over the public methods of a service. */
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireService } from '../call/given_service.js';

import { createEvent } from '../../values/model/event/create_event.js';
import type { JsonObject } from '../../values/json/rules.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import { coreOf } from '../core_of.js';
import type { RewindWrite, Rewound } from '../history_types.js';
import type { Abortable, AppendEventsRequest, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { REMOVED } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { TitleChange } from '../write.js';
import { rewindTargetOf } from './marks.js';
import { answeredEvent, editedEvent, titleAfter } from './repeated_message.js';
import { firstOfInvocation, invocationAt, readSession } from './session_history.js';
import { historyOf, type SourceSession, statesAround } from './state_at.js';

/** The methods of a service that rewinds need. */
export const REWIND_METHODS = ['getSession', 'appendEvents', 'revisionOf', 'sessionInfo'] as const;

/**
 * Checks the events that follow a rewind, and returns them as they are stored.
 *
 * @param stored all events that are then stored before them, with the marker
 * @param state the state before the rewind
 */
export type AdmitEvents = (
  events: readonly NewEvent[],
  stored: readonly Event[],
  state: JsonObject,
) => Promise<NewEvent[]>;

/** The result, with a handle on the rewound session. */
export interface AppendedRewind extends Rewound {
  readonly session: Session;
  /** Whether this call has stored it, and not an earlier one with the same marker. */
  readonly isNew: boolean;
}

/**
 * Rewinds a session. If others append meanwhile, it reads the session again and repeats that. If the marker is stored,
 * it changes nothing and returns what is stored.
 *
 * @throws SessionError `not_found`, `invalid_argument`, `stale_session` for a rewind to undo that is not the last one,
 *   `unsupported`; any error of `appendEvents`
 * @param claim a text that no other call has, by which the append recognises itself if its answer is lost
 */
export async function appendRewind(
  service: SessionService,
  write: RewindWrite & Abortable,
  admit?: AdmitEvents,
  claim?: string,
): Promise<AppendedRewind> {
  requireService(service, REWIND_METHODS);
  const { key, marker, signal } = write;
  for (;;) {
    const session = await readSession(service, { ...key, signal });
    const { events } = session;
    const expectedRevision = service.revisionOf(session);
    if (expectedRevision === undefined) {
      const message = `A session over ${service.storage.kind} has no revision, so it cannot be rewound.`;
      throw new SessionError('unsupported', message);
    }
    const stored = events.findIndex(({ id }) => id === marker.id);
    if (stored >= 0) return storedRewind(service, session, stored, write);
    const planned = await planRewind(historyOf(service, session, signal), write);
    const { event, message, following, titleChange, unknownKeys } = planned;
    const admitted = await (admit?.(following, [...events, event], session.state) ?? following);
    const appended = [event, ...admitted];
    const request = { session, events: appended, expectedRevision, signal, claim };
    try {
      await append(service, request, titleChange);
      return { event, message, unknownKeys, session, isNew: true };
    } catch (error) {
      if (!isSessionError(error, 'stale_session')) throw error;
    }
  }
}

/** The events of a rewind, and what else it changes. */
export interface PlannedRewind extends Rewound {
  /** The session's own state at the cut, so far as it is known. */
  readonly state: StateShape;
  /** What is stored after the marker. */
  readonly following: readonly NewEvent[];
  readonly titleChange: TitleChange | undefined;
}

/**
 * Computes a rewind.
 *
 * @throws SessionError `not_found`, `invalid_argument`, `stale_session`
 */
export async function planRewind(
  source: SourceSession,
  write: RewindWrite,
): Promise<PlannedRewind> {
  const { events } = source;
  const { before, undone } = cutOf(events, write);
  const { state, stateDelta, unknownKeys } = await rewindDelta(source, before);
  const timestamp = timeOf(events, write);
  const actions = { stateDelta, rewindBeforeInvocationId: before };
  const event = createEvent({ ...write.marker, author: 'user', timestamp, actions });
  const message = undone && messageOf(undone, write, timestamp);
  const following = [
    ...(message === undefined ? [] : [message]),
    ...laterThan(timestamp, write.events),
  ];
  const titleChange = titleAfter(source, message === undefined ? [event] : [event, message]);
  return { event, message, following, titleChange, unknownKeys, state };
}

// Google's programs order events by their times. So the marker is later than what it undoes, and earlier than what
// follows it.

function timeOf(stored: readonly Event[], { events = [] }: RewindWrite): number {
  const [first] = events;
  if (first === undefined) return Date.now();
  return Math.max((stored.at(-1)?.timestamp ?? 0) + 1, (first.timestamp ?? 0) - 1);
}

function laterThan(time: number, events: readonly NewEvent[] = []): NewEvent[] {
  return events.map((event, index) => ({
    ...event,
    timestamp: Math.max(event.timestamp ?? 0, time + 1 + index),
  }));
}

/** Returns the first undone invocation, and the undone message if that is sent again. */
function cutOf(
  events: readonly Event[],
  { place, message }: RewindWrite,
): { readonly before: string; readonly undone?: Event } {
  if ('turn' in place) {
    const isEdit = message!.content !== undefined;
    const undone = (isEdit ? editedEvent : answeredEvent)(events, place.turn);
    return { before: undone.invocationId, undone };
  }
  if ('before' in place) return { before: invocationAt(events, 'before', place.before) };
  const isMarker = (event: Event): boolean => rewindTargetOf(event) !== undefined;
  if ('branch' in place) {
    const { branch } = place;
    if (events.some((event) => event.invocationId === branch && isMarker(event))) {
      return { before: branch };
    }
    throw new SessionError('not_found', 'The session has no such branch; see branches().');
  }
  const last = events.findLast(isMarker);
  if (last === undefined) {
    throw new SessionError('not_found', 'Nothing was rewound in this session.');
  }
  if (last.invocationId === place.undo) return { before: place.undo };
  const text = 'Another rewind came after the one to undo; read the session again, then decide.';
  throw new SessionError('stale_session', text);
}

/** Makes the message that follows a marker. */
function messageOf(
  { author, content, actions, customMetadata }: Event,
  { message }: RewindWrite,
  time: number,
): Event {
  const { id, invocationId, content: edited } = message!;
  return createEvent({
    ...{ id, invocationId, author, content: edited ?? content, customMetadata },
    timestamp: time + 1,
    actions: { stateDelta: { ...actions?.stateDelta } },
  });
}

/** Appends in one step. A service of a user's own changes the title in a second one. */
async function append(
  service: SessionService,
  request: AppendEventsRequest,
  titleChange: TitleChange | undefined,
): Promise<void> {
  if (coreOf(service) !== undefined || titleChange === undefined) {
    const given: AppendEventsRequest & HiddenMembers = { ...request, titleChange };
    await service.appendEvents(given);
    return;
  }
  await service.appendEvents(request);
  const { appName, userId, id: sessionId } = request.session;
  const renamed = service.updateSession({ appName, userId, sessionId }, { title: titleChange.to });
  // The marker is stored, so the call must not fail if only the title cannot be changed.
  await renamed.catch(() => undefined);
}

/** Returns the result of a rewind whose marker is stored. */
async function storedRewind(
  service: SessionService,
  session: Session,
  at: number,
  write: RewindWrite & Abortable,
): Promise<AppendedRewind> {
  const { marker, message, signal } = write;
  const event = session.events[at]!;
  const target = rewindTargetOf(event);
  if (target === undefined || event.invocationId !== marker.invocationId) {
    throw invalid('marker.id', 'is the id of another event of the session');
  }
  const earlier = session.events.slice(0, at);
  const sent = (): Event => messageOf(cutOf(earlier, write).undone!, write, event.timestamp);
  const follows = message && (session.events.find(({ id }) => id === message.id) ?? sent());
  const cut = firstOfInvocation(earlier, target);
  const before = { ...historyOf(service, session, signal), events: earlier };
  const around = await statesAround(before, cut);
  const unknownKeys = Object.keys(event.actions.stateDelta).filter((key) =>
    around.unknownKeys.has(key),
  );
  return { event, message: follows, unknownKeys, session, isNew: false };
}

/** Returns the state before an invocation, and the changes that take the state back to it. The stored marker has `null` for `REMOVED`. */
async function rewindDelta(
  source: SourceSession,
  invocationId: string,
): Promise<{ state: StateShape; stateDelta: StateShape; unknownKeys: string[] }> {
  const cut = firstOfInvocation(source.events, invocationId);
  const around = await statesAround(source, cut);
  const { before, laterKeys } = around;
  const changes = [...laterKeys]
    .filter((key) => textIn(before, key) !== textIn(source.state, key))
    .map((key) => [key, Object.hasOwn(before, key) ? before[key] : REMOVED] as const);
  const unknownKeys = changes.map(([key]) => key).filter((key) => around.unknownKeys.has(key));
  return { state: before, stateDelta: Object.fromEntries(changes), unknownKeys };
}

/** Returns the JSON text of the value of a key; `undefined` if the state lacks the key. */
function textIn(state: Readonly<StateShape>, key: string): string | undefined {
  return Object.hasOwn(state, key) ? JSON.stringify(state[key]) : undefined;
}
