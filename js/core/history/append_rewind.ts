/** Computes rewinds from the whole session, over the public methods of a service. */
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { requireService } from '../call/given_service.js';
import { endsWithin } from '../call/time_limit.js';

import { createEvent } from '../../values/model/event/create_event.js';
import type { JsonObject } from '../../values/json/rules.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import { coreOf } from '../core_of.js';
import type { RewindWrite, Rewound, ServiceHistory } from '../history_types.js';
import type { Abortable, AppendEventsRequest, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { REMOVED } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { TitleChange } from '../write.js';
import { rewindTargetOf } from './marks.js';
import { answeredEvent, editedEvent, titleAfter } from './repeated_message.js';
import {
  findStoredMarker,
  firstOfInvocation,
  invocationAt,
  readSession,
  requireDistinctIds,
} from './session_history.js';
import { historyOf, type SourceSession, statesAround } from './state_at.js';
import { activeEvents } from './view.js';

/** The methods of a service that rewinds need. */
export const REWIND_METHODS = ['getSession', 'appendEvents', 'revisionOf', 'sessionInfo'] as const;

/** How often a rewind is computed again because others have changed the session meanwhile. */
const MAX_REPEATS = 5;

/** How often the events of the run under way may come first. Then it is cancelled. */
const MAX_RUN_WINS = 3;

/** Milliseconds that an undone run may take to end. After that, nobody waits for it. */
const END_MS = 1000;

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

/** A run of the session, as its own process knows it. */
export interface RunUnderWay {
  /** The message that the run answers, which is stored. */
  readonly message: Pick<Event, 'id' | 'invocationId'>;
  /** Returns the streamed texts and the seal of the run as it is now, from all events of the session. */
  readonly sealing: (events: readonly Event[]) => readonly NewEvent[];
  /** Stops and seals the run. Resolves at its end. */
  readonly cancel: () => Promise<void>;
  /** Stops the run and seals nothing. Resolves at its end. */
  readonly abort: () => Promise<void>;
}

export interface RewindOptions {
  readonly admit?: AdmitEvents | undefined;
  /** A text that no other call has, by which the append recognises itself if its answer is lost. */
  readonly claim?: string | undefined;
  /** Returns the run under way, if this process has one. It is asked again at each attempt. */
  readonly running?: (() => RunUnderWay | undefined) | undefined;
}

/** The result, with a handle on the rewound session. */
export interface AppendedRewind extends Rewound {
  readonly session: Session;
  /** Whether this call has stored it, and not an earlier one with the same marker. */
  readonly isNew: boolean;
}

/**
 * Rewinds a session in one append: the texts and the seal of the run under way, the marker, and what follows it. Then it
 * aborts that run. If it is refused, nothing has changed and the run continues.
 *
 * If others append meanwhile, it reads the session again and repeats that, five times at most. If the run's own events
 * come first three times, the run is cancelled before the next attempt. If the marker is stored, nothing changes, and
 * what is stored is returned.
 *
 * @throws SessionError `not_found`; `invalid_argument`, also for an id of another event; `stale_session` after the last
 *   attempt, and for a rewind to undo that is not the last one; `unsupported`; any error of `appendEvents`
 */
export async function appendRewind(
  service: SessionService,
  write: RewindWrite & Abortable,
  { admit, claim, running }: RewindOptions = {},
): Promise<AppendedRewind> {
  requireService(service, REWIND_METHODS);
  requireDistinctIds(write);
  const { key, signal } = write;
  let [failures, wins, seen] = [0, 0, Infinity];
  for (;;) {
    const session = await readSession(service, { ...key, signal });
    const { events } = session;
    const expectedRevision = service.revisionOf(session);
    if (expectedRevision === undefined) {
      const message = `A session over ${service.storage.kind} has no revision, so it cannot be rewound.`;
      throw new SessionError('unsupported', message);
    }
    const stored = findStoredMarker(events, write);
    if (stored >= 0) return storedRewind(service, session, stored, write);
    const run = storedRun(events, running?.());
    if (run !== undefined && isOnlyOf(run, events.slice(seen))) wins += 1;
    seen = events.length;
    const planned = await planWithRun(historyOf(service, session, signal), write, run);
    const { event, message, ending, following, titleChange, unknownKeys } = planned;
    const before = [...events, ...ending];
    const admitted = await (admit?.(following, before, session.state) ?? following);
    if (run !== undefined && wins === MAX_RUN_WINS) {
      wins = 0;
      await run.cancel();
      continue;
    }
    const appended = [...ending, ...admitted];
    const request = { session, events: appended, expectedRevision, signal, claim };
    try {
      await append(service, request, titleChange);
    } catch (error) {
      failures += 1;
      const isOther = isSessionError(error, 'stale_session');
      if (isOther && error.staleReason === 'other_revision' && failures <= MAX_REPEATS) continue;
      throw error;
    }
    await endRun(run);
    return { event, message, unknownKeys, session, isNew: true };
  }
}

/**
 * Passes a rewind on to a store that computes histories, and then aborts the run that was under way. Nothing seals it: the
 * undone branch has its stored events alone.
 */
export async function passRewindOn(
  verbs: ServiceHistory,
  write: Parameters<ServiceHistory['rewind']>[0],
  { running }: Pick<RewindOptions, 'running'>,
): Promise<Rewound> {
  const run = running?.();
  const rewound = await verbs.rewind(write);
  await endRun(run);
  return rewound;
}

/** Aborts a run that a stored rewind has ended, and waits a second at most. What it still appends is refused. */
async function endRun(run: RunUnderWay | undefined): Promise<void> {
  await endsWithin(END_MS, run?.abort());
}

/** Returns the run, if the session that was read has its message. */
function storedRun(
  events: readonly Event[],
  run: RunUnderWay | undefined,
): RunUnderWay | undefined {
  return run !== undefined && hasMessage(events, run) ? run : undefined;
}

function hasMessage(events: readonly Event[], { message }: RunUnderWay): boolean {
  return events.some(({ id }) => id === message.id);
}

/** Whether there are newer events, and all are of the run. */
function isOnlyOf({ message }: RunUnderWay, newer: readonly Event[]): boolean {
  return newer.length > 0 && newer.every((event) => event.invocationId === message.invocationId);
}

/** The events of a rewind, and what else it changes. */
export interface PlannedRewind extends Rewound {
  /** The session's own state at the cut, so far as it is known. */
  readonly state: StateShape;
  /** What is stored after the marker. */
  readonly following: readonly NewEvent[];
  readonly titleChange: TitleChange | undefined;
}

/** A rewind that also ends a run. */
interface RewindOfRun extends PlannedRewind {
  /** The marker, with what ends the run before it or behind it. */
  readonly ending: readonly Event[];
}

/**
 * Computes a rewind that also ends a run. What ends the run stands before the marker if the rewind undoes the message of
 * the run, and otherwise behind it, so that it counts.
 */
async function planWithRun(
  source: SourceSession,
  write: RewindWrite,
  run: RunUnderWay | undefined,
): Promise<RewindOfRun> {
  const { events } = source;
  const sealing = laterThan(Date.now() - 1, run?.sealing(events)).map((event) =>
    createEvent(event),
  );
  const planned = await planRewind(source, write, sealing);
  const { event, following } = planned;
  const [lastOfSeal] = sealing.slice(-1);
  if (run === undefined || lastOfSeal === undefined) return { ...planned, ending: [event] };
  if (hasMessage(activeEvents([...events, event]), run)) {
    const behind = laterThan(event.timestamp, sealing) as Event[];
    const rest = laterThan(behind.at(-1)!.timestamp, following);
    const message = planned.message && (rest[0] as Event);
    return { ...planned, message, ending: [event, ...behind], following: rest };
  }
  // An earlier rewind may have undone the message. Then there is nothing to seal.
  const isActive = hasMessage(activeEvents(events), run);
  return { ...planned, ending: isActive ? [...sealing, event] : [event] };
}

/**
 * Computes a rewind.
 *
 * @param sealing the events that end the run under way, as if they were stored
 * @throws SessionError `not_found`, `invalid_argument`, `stale_session`
 */
export async function planRewind(
  stored: SourceSession,
  write: RewindWrite,
  sealing: readonly Event[] = [],
): Promise<PlannedRewind> {
  const events = [...stored.events, ...sealing];
  const source = { ...stored, events };
  const { before, undone } = cutOf(events, write);
  const { state, stateDelta, unknownKeys } = await rewindDelta(source, before);
  const timestamp = Math.max(timeOf(events, write), (sealing.at(-1)?.timestamp ?? 0) + 1);
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
  { message, signal }: RewindWrite & Abortable,
): Promise<AppendedRewind> {
  const event = session.events[at]!;
  const follows = message && session.events.find(({ id }) => id === message.id);
  const earlier = session.events.slice(0, at);
  const cut = firstOfInvocation(earlier, rewindTargetOf(event));
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
