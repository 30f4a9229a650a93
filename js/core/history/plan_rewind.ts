/** Computes what a rewind appends. */
import { SessionError } from '../../values/errors/errors.js';
import { createEvent } from '../../values/model/event/create_event.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { rewindTargetOf } from '../../values/model/event/markers.js';
import { filesOf } from '../../values/model/event/message_files.js';
import { withFiles } from '../../values/model/event/place_files.js';
import { REMOVED } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { RewindResult, RewindWrite } from '../history_types.js';
import { firstOfInvocation, invocationAt } from './session_history.js';
import { type SourceSession, statesAround } from './states.js';
import { answeredEvent, editedEvent } from './repeated_message.js';

/** The events of a rewind, and what else it changes. */
export interface PlannedRewind extends Readonly<RewindResult> {
  /** Present if the place is a turn. */
  readonly message?: Event | undefined;
  /** The session's own state at the cut, so far as it is known. */
  readonly state: StateShape;
  /** What is stored after the marker. */
  readonly following: readonly NewEvent[];
}

/**
 * Computes a rewind.
 *
 * @param endEvents the events that end the run under way, as if they were stored
 * @throws SessionError `not_found`, `invalid_argument`, `stale_session`
 */
export async function planRewind(
  stored: SourceSession,
  write: RewindWrite,
  endEvents: readonly Event[] = [],
): Promise<PlannedRewind> {
  const events = [...stored.events, ...endEvents];
  const source = { ...stored, events };
  const { before, undone } = cutOf(source, write);
  const { state, stateDelta, unknownKeys } = await rewindDelta(source, before);
  const timestamp = Math.max(timeOf(events, write), (endEvents.at(-1)?.timestamp ?? 0) + 1);
  const actions = { stateDelta, rewindBeforeInvocationId: before };
  const event = createEvent({ ...write.marker, author: 'user', timestamp, actions });
  const message = undone && messageOf(undone, write, timestamp);
  const following = [
    ...(message === undefined ? [] : [message]),
    ...laterThan(timestamp, write.events),
  ];
  return { event, message, following, unknownKeys, state };
}

// Google's programs order events by their times. So the marker is later than what it undoes, and earlier than what
// follows it.

function timeOf(stored: readonly Event[], { events = [] }: RewindWrite): number {
  const [first] = events;
  if (first === undefined) return Date.now();
  return Math.max((stored.at(-1)?.timestamp ?? 0) + 1, (first.timestamp ?? 0) - 1);
}

/** Returns events with times after a time. An event that has a later one keeps it. */
export function laterThan(time: number, events: readonly NewEvent[] = []): NewEvent[] {
  return events.map((event, index) => ({
    ...event,
    timestamp: Math.max(event.timestamp ?? 0, time + 1 + index),
  }));
}

/** Returns the first undone invocation, and the undone message if that is sent again. */
function cutOf(
  source: SourceSession,
  { place, message }: RewindWrite,
): { readonly before: string; readonly undone?: Event } {
  const { events } = source;
  if ('turn' in place) {
    const isEdit = message!.content !== undefined;
    const undone = (isEdit ? editedEvent : answeredEvent)(source, place.turn);
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

/** Makes the message that follows a marker. It has the files of the undone one whose texts it has. */
function messageOf(undone: Event, { message }: RewindWrite, time: number): Event {
  const { author, content, actions, customMetadata } = undone;
  const { id, invocationId, content: edited, files = [] } = message!;
  const event = createEvent({
    id,
    invocationId,
    author,
    content: edited ?? content,
    customMetadata,
    timestamp: time + 1,
    actions: { stateDelta: { ...actions?.stateDelta } },
  });
  return withFiles(event, [...files, ...filesOf(undone)]);
}

/**
 * Returns the state before an invocation, and the changes that take the state back to it. The stored marker has `null`
 * for `REMOVED`.
 */
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
