/** Whole sessions, and the session's own state at a place of its history. */
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { Call } from '../call/call.js';
import { EVENTS_PER_TASK, nextTask } from '../call/scheduling.js';
import type { HistoryState } from '../history_types.js';
import type { ReadPage, ReadSession } from '../read.js';
import { initialStateOf } from '../storage/reads/session_info.js';
import type { Store } from '../storage/store.js';
import { applyDeltas, deltasOf, isOwnKey, ownKeysOf } from './rules/fold.js';
import { indexOfEvent } from './session_history.js';
import { activeEvents } from './rules/view.js';

/** A session, as far as its history is computed from it. */
export interface SourceSession {
  /** Those from the first that is known to the last. */
  readonly events: readonly Event[];
  readonly state: Readonly<StateShape>;
  /** The invocations that rewinds among the events name, and that begin before these, or may. */
  readonly olderInvocations?: readonly string[] | undefined;
  /**
   * Returns the values that the session's own keys have before the cut, without what rewinds have undone. The keys are
   * those that no event that counts writes between the first event and the cut. The last events of a session are read
   * for one cut, and fit no other.
   */
  readonly earlierValues: (keys: readonly string[]) => Promise<EarlierValues>;
}

/** The values of {@link SourceSession.earlierValues}. */
export interface EarlierValues {
  /** A key that the state lacks is absent. There may be other keys. */
  readonly values: Readonly<StateShape>;
  /** The keys whose value is not known. */
  readonly unknownKeys: readonly string[];
}

/** Returns the values that keys have in the initial state. @param initial `undefined` if it is not known */
export function initialValues(
  initial: Readonly<StateShape> | undefined,
  keys: readonly string[],
): EarlierValues {
  return { values: initial ?? {}, unknownKeys: initial === undefined ? keys : [] };
}

/** Returns the session's own state right after an event. @throws SessionError `not_found` */
export async function stateAfter(source: SourceSession, eventId: string): Promise<HistoryState> {
  const count = indexOfEvent(source.events, eventId) + 1;
  const { before, unknownKeys } = await statesAround(source, count);
  return { state: before, unknownKeys: [...unknownKeys] };
}

/** The session's own state before a cut, and the keys that change after it. */
export interface StatesAround {
  /** The state before the cut, so far as it is known. */
  readonly before: StateShape;
  /** The keys that events at or after the cut write. */
  readonly laterKeys: ReadonlySet<string>;
  /** See {@link HistoryState.unknownKeys}. */
  readonly unknownKeys: ReadonlySet<string>;
}

/** Computes the state before the event at `cut`. A key that no event writes still has its initial value. */
export async function statesAround(
  { events, state, olderInvocations, earlierValues }: SourceSession,
  cut: number,
): Promise<StatesAround> {
  const laterKeys = new Set<string>();
  const written = new Set<string>();
  for (const [at, event] of events.entries()) {
    for (const key of ownKeysOf(event)) {
      written.add(key);
      if (at >= cut) laterKeys.add(key);
    }
  }
  if (events.length > EVENTS_PER_TASK) await nextTask();
  const unwritten = Object.entries(state).filter(([key]) => !written.has(key));
  const deltas = deltasOf(activeEvents(events.slice(0, cut), olderInvocations));
  if (events.length > EVENTS_PER_TASK) await nextTask();
  const counted = new Set(deltas.flatMap(Object.keys));
  const uncounted = [...written].filter((key) => !counted.has(key));
  const { values, unknownKeys } =
    uncounted.length > 0 ? await earlierValues(uncounted) : initialValues({}, []);
  const known = Object.entries(values).filter(([key]) => written.has(key));
  const base = Object.fromEntries([...unwritten, ...known]);
  const before: StateShape = {};
  applyDeltas(before, [base, ...deltas], isOwnKey);
  return { before, laterKeys, unknownKeys: new Set(unknownKeys) };
}

/** A session with all its events. */
export interface WholeSession extends SourceSession {
  readonly state: StateShape;
  readonly created: number;
  readonly revision: number;
  readonly olderEvents?: undefined;
}

/**
 * Reads a session with all its events. A long history is read in pages.
 *
 * @throws SessionError `not_found`; `connection_lost` with `missing: 'events'` over a cache that cannot fetch all
 */
export async function readWhole(
  store: Store,
  key: CompositeSessionKey,
  call: Call,
): Promise<WholeSession> {
  const { computesHistories, lacksPages } = store.traits;
  // Over a cache only a read of all fails if it cannot have them.
  const last = computesHistories === true || lacksPages === true ? 'all' : EVENTS_PER_TASK;
  const session = await store.read({ kind: 'window', key, last }, call);
  if (session === undefined) throw sessionNotFound(key.sessionId);
  const { events } = session;
  const older = events.length === last ? await readOlder(store, key, session, call) : [];
  // It was deleted meanwhile, and perhaps created again.
  if (older === undefined) return readWhole(store, key, call);
  const all = older.length === 0 ? events : [...older, ...events];
  return wholeSession(store, key, { ...session, events: all }, call);
}

/** Returns a session of which all events were read. */
export function wholeSession(
  store: Store,
  key: CompositeSessionKey,
  { events, state, created, revision }: ReadSession,
  call: Call,
): WholeSession {
  return {
    events,
    state: JSON.parse(state) as StateShape,
    created,
    revision,
    earlierValues: async (keys) => initialValues(await readInitialState(store, key, call), keys),
  };
}

/** Reads the events before those of a session. Returns `undefined` if the session is another one by now. */
async function readOlder(
  store: Store,
  key: CompositeSessionKey,
  { events: [first], created }: Pick<ReadSession, 'events' | 'created'>,
  call: Call,
): Promise<Event[] | undefined> {
  const pages: Event[][] = [];
  let before: string | undefined = first!.id;
  while (before !== undefined) {
    await nextTask();
    const page = await readBefore(store, key, { eventId: before, limit: EVENTS_PER_TASK }, call);
    if (page?.events === undefined || page.created !== created) return undefined;
    pages.unshift(page.events);
    before = page.hasOlder === true ? page.firstId : undefined;
  }
  return pages.flat();
}

/** Reads the last events of a session, or those before an event. */
export function readBefore(
  store: Store,
  key: CompositeSessionKey,
  page: { readonly eventId?: string; readonly limit: number; readonly skipCorrupt?: boolean },
  call: Call,
): Promise<ReadPage | undefined> {
  const before = { direction: 'before', eventId: undefined, withCount: false } as const;
  return store.read({ kind: 'page', key, ...before, ...page }, call);
}

/** Returns the state with which a session was created; `undefined` if it is not known. */
export async function readInitialState(
  store: Store,
  key: CompositeSessionKey,
  call: Call,
): Promise<StateShape | undefined> {
  const read = await readBefore(store, key, { limit: 1, skipCorrupt: true }, call);
  return initialStateOf<StateShape>(read?.initialState).initialState;
}
