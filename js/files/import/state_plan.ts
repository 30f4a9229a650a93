/**
 * Plans how an import reaches the state of a file, if a service can only create a session and apply the
 * deltas of events.
 *
 * The events alone may produce another state than the file has. `user:` and `app:` keys may have been changed
 * by another session. The session's own keys may have been edited by hand, or an event was replaced later. An
 * extra event for the difference would be an event that the file does not have.
 *
 * But an event that is appended again replaces itself. The *carrier* is an event whose own delta agrees with
 * the wanted state (most events have no delta). It is appended once more with the difference as its delta,
 * and then again as it is. Both versions are stored by one call of `appendEvents`.
 */
import type { Event } from '../../model/event.js';
import { newEventId } from '../../model/create_event.js';
import { isShared, isTemp, REMOVED } from '../../state/scope.js';
import type { Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import { initialState, applyDeltas } from '../format/apply_deltas.js';
import { malformedFile } from '../format/malformed_file.js';

/**
 * How an import changes `user:` and `app:` keys, which other sessions see too.
 *
 * - `'fill'`: keys that the store does not have are set; existing keys stay.
 * - `'overwrite'`: all keys of the file are set.
 * - `'keep'`: no key is changed.
 *
 * @example
 * ```ts
 * import type { SharedState } from 'adk-session-wasm/files';
 *
 * const restoring: SharedState = 'overwrite';
 * ```
 */
export type SharedState = 'fill' | 'overwrite' | 'keep';

/** The steps of an import, in this order. */
export interface StatePlan {
  /** The initial state of the session to create. */
  readonly initial: StateShape;
  /** The events to append, in order. */
  readonly events: readonly Event[];
  /** `user:` and `app:` keys to change at the end, if there is no carrier. */
  readonly afterwards: StateShape;
}

/** Returns whether storing the session may change `user:` or `app:` keys. */
export function mayChangeShared({ state, events }: Session): boolean {
  return (
    Object.keys(state).some(isShared) ||
    events.some(({ actions }) => Object.keys(actions.stateDelta).some(isShared))
  );
}

/**
 * Plans the import of a session.
 *
 * @param storedShared the `user:` and `app:` keys that the store has
 * @throws SessionError `invalid_argument` if the events contradict the file's state and none of them can be
 *   the carrier
 */
export function planState(
  session: Session,
  storedShared: Readonly<StateShape>,
  sharedState: SharedState,
): StatePlan {
  const { events } = session;
  const initial = sessionState(initialState(session));
  const wanted = wantedState(session, storedShared, sharedState);
  const stateFromEvents = applyDeltas({ ...storedShared, ...initial }, events);
  const delta = deltaBetween(stateFromEvents, wanted);
  const keys = Object.keys(delta);
  if (keys.length === 0) return { initial, events, afterwards: {} };
  if (events.length === 0) return { initial: { ...initial, ...delta }, events, afterwards: {} };

  const carrier = [...events].reverse().find((event) => isConsistent(event, wanted));
  if (carrier !== undefined) {
    // Without an id, the two versions would become two events.
    carrier.id ||= newEventId();
    const carrierWithDelta = { ...carrier, actions: { ...carrier.actions, stateDelta: delta } };
    return { initial, events: [...events, carrierWithDelta, carrier], afterwards: {} };
  }
  const own = keys.find((key) => !isShared(key));
  if (own === undefined) return { initial, events, afterwards: delta };
  throw malformedFile(
    ['state', own],
    'differs from what the events produce, and no event can carry the difference; ' +
      'omit "state" to get what the events produce',
  );
}

function wantedState(
  { state }: Session,
  storedShared: StateShape,
  policy: SharedState,
): StateShape {
  const shared = new Map(Object.entries(storedShared));
  for (const [key, value] of Object.entries(state)) {
    if (!isShared(key) || policy === 'keep') continue;
    if (policy === 'overwrite' || !shared.has(key)) shared.set(key, value);
  }
  return Object.fromEntries([...Object.entries(sessionState(state)), ...shared]);
}

/** Returns the session's own keys. */
function sessionState(state: Readonly<StateShape>): StateShape {
  const own = Object.entries(state).filter(([key]) => !isShared(key) && !isTemp(key));
  return Object.fromEntries(own);
}

/** Returns the delta that turns one state into the other. */
function deltaBetween(
  stateFromEvents: Readonly<StateShape>,
  wanted: Readonly<StateShape>,
): StateShape {
  const delta = new Map<string, unknown>();
  for (const key of Object.keys(stateFromEvents)) {
    if (!Object.hasOwn(wanted, key)) delta.set(key, REMOVED);
  }
  for (const [key, value] of Object.entries(wanted)) {
    if (!Object.hasOwn(stateFromEvents, key) || !isSameText(stateFromEvents[key], value))
      delta.set(key, value);
  }
  return Object.fromEntries(delta);
}

/** Returns whether applying the event's delta to the wanted state changes nothing. */
function isConsistent({ actions }: Event, wanted: Readonly<StateShape>): boolean {
  return Object.entries(actions.stateDelta).every(([key, value]) => {
    if (isTemp(key)) return true;
    if (value === REMOVED || value === undefined) return !Object.hasOwn(wanted, key);
    return Object.hasOwn(wanted, key) && isSameText(wanted[key], value);
  });
}

/** Compares two JSON values. Values that differ only in key order count as different, which does no harm here. */
export function isSameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
