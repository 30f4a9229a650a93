/** Appends rewinds. */
import { isSessionError } from '../../values/errors/errors.js';
import { firstTitleOf } from '../../values/model/event/auto_title.js';
import { createEvent } from '../../values/model/event/create_event.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { rewindTargetOf } from '../../values/model/event/markers.js';
import { withIdempotencyKey } from '../../values/model/event/metadata.js';
import { namedFiles } from '../../values/model/event/place_files.js';
import type { EventSnapshot } from '../../values/model/event/snapshot.js';
import { isStored } from '../../values/model/event/stored.js';
import type { ImportedSessionRequest } from '../../values/model/session.js';
import type { Call } from '../call/call.js';
import type { AdmitEvents, RewindWrite, RunUnderWay } from '../history_types.js';
import type { Store, StoredRewind } from '../storage/store.js';
import type { CreateWrite, ReadyRewind } from '../write.js';
import { findStoredMarker, firstOfInvocation, requireDistinctIds } from './session_history.js';
import { readWhole, type SourceSession, statesAround, type WholeSession } from './states.js';
import { activeEvents } from './rules/view.js';
import { laterThan, type PlannedRewind, planRewind } from './plan_rewind.js';
import { readRewindSource, type RewindSource } from './rewind_source.js';

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
  const attempts = new RewindAttempts(store, write, call, rules);
  for (let failures = 0; ;) {
    try {
      const rewound = await attempts.next();
      if (rewound !== undefined) return rewound;
    } catch (error) {
      failures += 1;
      const isOther = isSessionError(error, 'stale_session');
      if (isOther && error.staleReason === 'other_revision' && failures <= MAX_REPEATS) continue;
      throw error;
    }
  }
}

/** The attempts to append one rewind. */
class RewindAttempts {
  readonly #store: Store;
  readonly #write: ReadyRewind;
  readonly #call: Call;
  readonly #rules: HistoryRules;
  /** How often the events of the run under way came first. */
  #wins = 0;
  /** The id of the last event at the attempt before. */
  #seen: string | undefined;

  constructor(store: Store, write: ReadyRewind, call: Call, rules: HistoryRules) {
    this.#store = store;
    this.#write = write;
    this.#call = call;
    this.#rules = rules;
  }

  /** Reads the session and appends. Returns `undefined` if it has cancelled the run instead. */
  async next(): Promise<StoredRewind | undefined> {
    const [store, write, call, rules] = [this.#store, this.#write, this.#call, this.#rules];
    const { options: { admit, idempotencyKey } = {} } = write;
    const { session, run: underWay } = await readRewindSource(store, write, call);
    const { events, state } = session;
    // The last events alone are read only if none of those that the rewind stores is there.
    if (session.olderEvents === undefined) {
      const stored = findStoredMarker(events, write);
      if (stored >= 0) return storedRewind(session, stored, write);
    }
    const run = storedRun(events, underWay);
    if (run !== undefined && isOnlyOf(run, this.#newerThanSeen(events))) this.#wins += 1;
    this.#seen = events.at(-1)?.id;
    const { ending, following, unknownKeys } = await planWithRun(session, write, run);
    const before = newestFirst(session, ending);
    const admitted = await (admit?.(following, before, state, false) ?? following);
    if (run !== undefined && this.#wins === MAX_RUN_WINS) {
      this.#wins = 0;
      await run.cancel();
      return undefined;
    }
    const taken = [...ending, ...admitted].filter(isStored).map(rules.takeEvent);
    const firstTitle = rules.autoTitle ? firstTitleOf(taken) : undefined;
    const parts = { session, write, taken, firstTitle, idempotencyKey };
    const appended = await append(store, parts, call);
    const eventOf = (sent: { readonly id: string }): Event =>
      JSON.parse(taken.find(({ id }) => id === sent.id)!.text) as Event;
    const message = write.message && eventOf(write.message);
    return { event: eventOf(write.marker), message, unknownKeys, ...appended, run, isNew: true };
  }

  #newerThanSeen(events: readonly Event[]): readonly Event[] {
    if (this.#seen === undefined) return [];
    return events.slice(events.findLastIndex(({ id }) => id === this.#seen) + 1);
  }
}

/** Yields the events that are stored before those that follow a rewind, the newest first. */
async function* newestFirst(
  { events, olderEvents }: RewindSource,
  ending: readonly Event[] = [],
): AsyncGenerator<Event, void, undefined> {
  yield* [...events, ...ending].reverse();
  if (olderEvents !== undefined) yield* olderEvents();
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
  const events = await admit(following, newestFirst(session, [event]), session.state, true);
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

/** A rewind that also ends a run. */
interface RewindOfRun extends PlannedRewind {
  /** The marker, with what ends the run before it or behind it. */
  readonly ending: readonly Event[];
}

/**
 * Computes a rewind that also ends a run. What ends the run stands before the marker if the rewind undoes the message
 * of the run, and otherwise behind it, so that it counts.
 */
export async function planWithRun(
  source: SourceSession,
  write: RewindWrite,
  run: RunUnderWay | undefined,
): Promise<RewindOfRun> {
  const { events, olderInvocations } = source;
  const endEvents = laterThan(Date.now() - 1, run?.endEvents(events)).map((event) =>
    createEvent(event),
  );
  const planned = await planRewind(source, write, endEvents);
  const { event, following } = planned;
  const [lastEndEvent] = endEvents.slice(-1);
  if (run === undefined || lastEndEvent === undefined) return { ...planned, ending: [event] };
  if (hasMessage(activeEvents([...events, event], olderInvocations), run)) {
    const behind = laterThan(event.timestamp, endEvents) as Event[];
    const rest = laterThan(behind.at(-1)!.timestamp, following);
    const message = planned.message && (rest[0] as Event);
    return { ...planned, message, ending: [event, ...behind], following: rest };
  }
  // An earlier rewind may have undone the message. Then there is nothing to end.
  const isActive = hasMessage(activeEvents(events, olderInvocations), run);
  return { ...planned, ending: isActive ? [...endEvents, event] : [event] };
}

/** What a rewind appends, and to which session. */
interface RewindAppend {
  readonly session: RewindSource;
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
