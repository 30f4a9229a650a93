/** Computes rewinds from the whole session. */
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Call } from '../call/call.js';
import { firstTitleOf } from '../../values/model/event/auto_title.js';
import { withIdempotencyKey } from '../../values/model/event/metadata.js';
import { createEvent } from '../../values/model/event/create_event.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { filesOf } from '../../values/model/event/message_files.js';
import { namedFiles, withFiles } from '../../values/model/event/place_files.js';
import type { EventSnapshot } from '../../values/model/event/snapshot.js';
import { isStored } from '../../values/model/event/stored.js';
import type { AdmitEvents, RewindResult, RewindWrite, RunUnderWay } from '../history_types.js';
import { REMOVED } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { ImportedSessionRequest } from '../../values/model/session.js';
import type { Store, StoredRewind } from '../storage/store.js';
import type { CreateWrite, ReadyRewind } from '../write.js';
import { rewindTargetOf } from '../../values/model/event/markers.js';
import { answeredEvent, editedEvent } from './repeated_message.js';
import {
  findStoredMarker,
  firstOfInvocation,
  invocationAt,
  requireDistinctIds,
} from './session_history.js';
import { activeEvents } from './view.js';
import { readWhole, type SourceSession, statesAround, type WholeSession } from './states.js';

/** How often a rewind is computed again because others have changed the session meanwhile. */
const MAX_REPEATS = 5;

/** How often the events of the run under way may come first. Then it is cancelled. */
const MAX_RUN_WINS = 3;

/** What histories need of the service whose store they are computed over: its rules of events and new sessions. */
export interface HistoryRules {
  /** Whether a user's message gives a title to a session that has none. */
  readonly autoTitle: boolean;
  /** Takes an event to append. */
  readonly takeEvent: (event: NewEvent) => EventSnapshot;
  readonly takeNew: (request: ImportedSessionRequest) => CreateWrite;
}

/**
 * Rewinds a session in one append: the texts and the end event of the run under way, the marker, and what follows it.
 * If it is refused, nothing has changed and the run continues.
 *
 * If others append meanwhile, it reads the session again and repeats that, five times at most. If the run's own events
 * come first three times, the run is cancelled before the next attempt. If the marker is stored, nothing changes, and
 * what is stored is returned.
 *
 * @throws SessionError `not_found`; `invalid_argument`, also for an id of another event; `stale_session` after the last
 *   attempt, and for a rewind to undo that is not the last one; `unsupported`; any error of an append
 */
export async function appendRewind(
  store: Store,
  write: ReadyRewind,
  call: Call,
  rules: HistoryRules,
): Promise<StoredRewind> {
  requireDistinctIds(write);
  const { key, options: { admit, idempotencyKey, running } = {} } = write;
  let [failures, wins, seen] = [0, 0, Infinity];
  for (;;) {
    const session = await readWhole(store, key, call);
    const { events, state } = session;
    if (Number.isNaN(session.created)) {
      const message = 'The storage has no revisions, so its sessions cannot be rewound.';
      throw new SessionError('unsupported', message);
    }
    const stored = findStoredMarker(events, write);
    if (stored >= 0) return storedRewind(session, stored, write);
    const run = storedRun(events, running?.());
    if (run !== undefined && isOnlyOf(run, events.slice(seen))) wins += 1;
    seen = events.length;
    const planned = await planWithRun(session, write, run);
    const { ending, following, unknownKeys } = planned;
    const before = [...events, ...ending];
    const admitted = await (admit?.(following, before, state, false) ?? following);
    if (run !== undefined && wins === MAX_RUN_WINS) {
      wins = 0;
      await run.cancel();
      continue;
    }
    const taken = [...ending, ...admitted].filter(isStored).map(rules.takeEvent);
    const firstTitle = rules.autoTitle ? firstTitleOf(taken) : undefined;
    try {
      const appended = await append(
        store,
        { session, write, taken, firstTitle, idempotencyKey },
        call,
      );
      const eventOf = (sent: { readonly id: string }): Event =>
        JSON.parse(taken.find(({ id }) => id === sent.id)!.text) as Event;
      const message = write.message && eventOf(write.message);
      return { event: eventOf(write.marker), message, unknownKeys, ...appended, run, isNew: true };
    } catch (error) {
      failures += 1;
      const isOther = isSessionError(error, 'stale_session');
      if (isOther && error.staleReason === 'other_revision' && failures <= MAX_REPEATS) continue;
      throw error;
    }
  }
}

/**
 * Decides by the rights of a request on a rewind that another store computes.
 *
 * @returns what is stored if the marker is, or the rewind to pass on, with its events as they were admitted
 */
export async function admitRewind(
  store: Store,
  write: RewindWrite,
  admit: AdmitEvents,
  call: Call,
): Promise<{ readonly stored: StoredRewind } | { readonly admitted: RewindWrite }> {
  requireDistinctIds(write);
  const session = await readWhole(store, write.key, call);
  const at = findStoredMarker(session.events, write);
  if (at >= 0) return { stored: await storedRewind(session, at, write) };
  const { event, message, following } = await planRewind(session, write);
  const before = [...session.events, event];
  const events = await admit(following, before, session.state, true);
  if (message === undefined) return { admitted: { ...write, events } };
  const { files } = write.message!;
  // A client names them alone. What is told of each is from the store of the files.
  const repeated = { ...write.message!, files: files && namedFiles(events[0] as Event, files) };
  return { admitted: { ...write, message: repeated, events: events.slice(1) } };
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
export interface PlannedRewind extends Readonly<RewindResult> {
  /** Present if the place is a turn. */
  readonly message?: Event | undefined;
  /** The session's own state at the cut, so far as it is known. */
  readonly state: StateShape;
  /** What is stored after the marker. */
  readonly following: readonly NewEvent[];
}

/** A rewind that also ends a run. */
interface RewindOfRun extends PlannedRewind {
  /** The marker, with what ends the run before it or behind it. */
  readonly ending: readonly Event[];
}

/**
 * Computes a rewind that also ends a run. What ends the run stands before the marker if the rewind undoes the message
 * of the run, and otherwise behind it, so that it counts.
 */
async function planWithRun(
  source: SourceSession,
  write: RewindWrite,
  run: RunUnderWay | undefined,
): Promise<RewindOfRun> {
  const { events } = source;
  const endEvents = laterThan(Date.now() - 1, run?.endEvents(events)).map((event) =>
    createEvent(event),
  );
  const planned = await planRewind(source, write, endEvents);
  const { event, following } = planned;
  const [lastEndEvent] = endEvents.slice(-1);
  if (run === undefined || lastEndEvent === undefined) return { ...planned, ending: [event] };
  if (hasMessage(activeEvents([...events, event]), run)) {
    const behind = laterThan(event.timestamp, endEvents) as Event[];
    const rest = laterThan(behind.at(-1)!.timestamp, following);
    const message = planned.message && (rest[0] as Event);
    return { ...planned, message, ending: [event, ...behind], following: rest };
  }
  // An earlier rewind may have undone the message. Then there is nothing to end.
  const isActive = hasMessage(activeEvents(events), run);
  return { ...planned, ending: isActive ? [...endEvents, event] : [event] };
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
  const { before, undone } = cutOf(events, write);
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

/** What a rewind appends, and to which session. */
interface RewindAppend {
  readonly session: WholeSession;
  readonly write: RewindWrite;
  readonly taken: readonly EventSnapshot[];
  readonly firstTitle: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Appends in one step, at the revision that was read. */
async function append(
  store: Store,
  { session: { created, revision }, write, taken, firstTitle, idempotencyKey }: RewindAppend,
  call: Call,
): Promise<Pick<StoredRewind, 'revision' | 'shared'>> {
  const isOnce = idempotencyKey !== undefined;
  const appended = await store.write(
    {
      kind: 'append',
      key: write.key,
      stale: 'append',
      firstTitle,
      position: { kind: 'revision', created, revision },
      expectedRevision: revision,
      expectedEvents: isOnce ? Object.fromEntries(taken.map(({ id }) => [id, null])) : undefined,
      events: isOnce ? taken.map((event) => withIdempotencyKey(event, idempotencyKey)) : taken,
    },
    call,
  );
  // Another attempt, whose answer was lost, may have stored it, and others have written since.
  const last = appended.unchanged.at(-1);
  return { revision: last?.revision ?? appended.revision, shared: appended.shared };
}

/** Returns the result of a rewind whose marker is stored. */
async function storedRewind(
  session: WholeSession,
  at: number,
  { message }: RewindWrite,
): Promise<StoredRewind> {
  const { events, revision } = session;
  const event = events[at]!;
  const follows = message && events.find(({ id }) => id === message.id);
  const earlier = events.slice(0, at);
  const cut = firstOfInvocation(earlier, rewindTargetOf(event));
  const around = await statesAround({ ...session, events: earlier }, cut);
  const unknownKeys = Object.keys(event.actions.stateDelta).filter((key) =>
    around.unknownKeys.has(key),
  );
  return { event, message: follows, unknownKeys, revision, isNew: false };
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
