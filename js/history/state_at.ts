import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import type { Event } from '../model/event/event.js';
import { readInitialState } from '../model/initial_state.js';
import type { Abortable, CompositeSessionKey, Session } from '../model/session.js';
import type { SessionService } from '../model/session_service.js';
import { isPlainObject } from '../json/rules.js';
import { isShared, isTemp, REMOVED } from '../state/scope.js';
import type { StateShape } from '../state/state_shape.js';
import { indexOfEvent, readSession } from './session_history.js';

/** The request of {@link stateAt}. */
export interface StateAtRequest extends CompositeSessionKey, Abortable {
  /** The state right after this event. */
  eventId: string;
}

/** The session's own state at a point of its history. */
export interface HistoryState {
  /** The state without `user:` and `app:` keys, which other sessions change too. */
  state: StateShape;
  /**
   * Keys that the session may have been created with. The initial state is not known, and an event after that point is
   * the first that writes them. They are not in `state`.
   */
  unknownKeys: string[];
}

/**
 * Returns the session's own state as it was right after an event.
 *
 * @throws SessionError (as a rejection) `not_found` for the session or the event, and any error of `getSession`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { stateAt } from 'adk-session-wasm/history';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.createSession({ ...key, state: { cups: 0 } });
 * for (const cups of [1, 2]) {
 *   const actions = { stateDelta: { cups }, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
 *   await service.appendEvent({ session, event: { id: `e${cups}`, invocationId: 'i1', actions } });
 * }
 * console.log((await stateAt(service, { ...key, eventId: 'e1' })).state); // { cups: 1 }
 * ```
 */
export async function stateAt(
  service: SessionService,
  request: StateAtRequest,
): Promise<HistoryState> {
  requireService(service, ['getSession', 'sessionInfo']);
  const taken = takeRequest(request);
  const session = await readSession(service, taken);
  const count = indexOfEvent(session.events, taken.eventId) + 1;
  return stateAfter(service, session, count, taken.signal);
}

/** Returns the session's own state after its first `count` events. */
export async function stateAfter(
  service: SessionService,
  session: Session,
  count: number,
  signal: Abortable['signal'],
): Promise<HistoryState> {
  const { before, laterKeys, initial } = await statesAround(service, session, count, signal);
  const unknownKeys = initial === undefined ? [...laterKeys].filter((key) => !before.has(key)) : [];
  return { state: Object.fromEntries(before), unknownKeys };
}

/** The session's own state before a cut, and the keys that change after it. */
export interface StatesAround {
  /** The state before the cut, so far as it is known. */
  readonly before: ReadonlyMap<string, unknown>;
  /** The keys that events at or after the cut write. */
  readonly laterKeys: ReadonlySet<string>;
  /** The initial state; `undefined` if it is not known, and empty if no key depends on it. */
  readonly initial: Readonly<StateShape> | undefined;
}

/** Computes the state before the event at `cut`. A key that no event writes still has its initial value. */
export async function statesAround(
  service: SessionService,
  session: Session,
  cut: number,
  signal: Abortable['signal'],
): Promise<StatesAround> {
  const { appName, userId, id: sessionId, events, state } = session;
  const laterKeys = new Set(events.slice(cut).flatMap((event) => ownDelta(event).map(keyOf)));
  const written = new Set(events.flatMap((event) => ownDelta(event).map(keyOf)));
  const before = new Map<string, unknown>();
  for (const [key, value] of Object.entries(state)) {
    if (isOwn(key) && !written.has(key)) before.set(key, value);
  }
  const earlier = events.slice(0, cut).flatMap(ownDelta);
  const earlierKeys = new Set(earlier.map(keyOf));
  const needsInitial = [...laterKeys].some((key) => !earlierKeys.has(key));
  const key = { appName, userId, sessionId, signal };
  const initial = needsInitial ? await readInitialState(service, key) : {};
  for (const key of laterKeys) {
    if (initial !== undefined && Object.hasOwn(initial, key)) before.set(key, initial[key]);
  }
  for (const [key, value] of earlier) {
    if (value === REMOVED || value === undefined) before.delete(key);
    else before.set(key, value);
  }
  return { before, laterKeys, initial };
}

/** Returns the entries of an event's delta that belong to the session itself. */
function ownDelta(event: Event): [string, unknown][] {
  const delta: unknown = event.actions?.stateDelta;
  // Another program may have stored anything in its place.
  return isPlainObject(delta) ? Object.entries(delta).filter(([key]) => isOwn(key)) : [];
}

const keyOf = ([key]: readonly [string, unknown]): string => key;

const isOwn = (key: string): boolean => !isShared(key) && !isTemp(key);
