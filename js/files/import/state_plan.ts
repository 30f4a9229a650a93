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
import { type Event, newEventId } from '../../model/event.js';
import { isShared, isTemp, REMOVED } from '../../state/scope.js';
import type { Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import { initialState, madeOf } from '../format/fold.js';
import { malformed } from '../format/malformed.js';

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
export function touchesShared({ state, events }: Session): boolean {
  return (
    Object.keys(state).some(isShared) ||
    events.some(({ actions }) => Object.keys(actions.stateDelta).some(isShared))
  );
}

/**
 * Plans the import of a session.
 *
 * @param live the `user:` and `app:` keys that the store has
 * @throws SessionError `invalid_argument` if the events contradict the file's state and none of them can be
 *   the carrier
 */
export function planState(
  session: Session,
  live: Readonly<StateShape>,
  sharedState: SharedState,
): StatePlan {
  const { events } = session;
  const initial = ownKeys(initialState(session));
  const wanted = wantedState(session, live, sharedState);
  const made = madeOf({ ...live, ...initial }, events);
  const difference = differenceOf(made, wanted);
  const keys = Object.keys(difference);
  if (keys.length === 0) return { initial, events, afterwards: {} };
  if (events.length === 0)
    return { initial: { ...initial, ...difference }, events, afterwards: {} };

  const carrier = [...events].reverse().find((event) => agrees(event, wanted));
  if (carrier !== undefined) {
    // Without an id, the two versions would become two events.
    carrier.id ||= newEventId();
    const loaded = { ...carrier, actions: { ...carrier.actions, stateDelta: difference } };
    return { initial, events: [...events, loaded, carrier], afterwards: {} };
  }
  const own = keys.find((key) => !isShared(key));
  if (own === undefined) return { initial, events, afterwards: difference };
  throw malformed(
    ['state', own],
    'is not what the deltas of the events make of it, and there is no event that could be stored ' +
      'after the others to set it right; leave "state" out to have what the events make',
  );
}

function wantedState({ state }: Session, live: StateShape, policy: SharedState): StateShape {
  const shared = new Map(Object.entries(live));
  for (const [key, value] of Object.entries(state)) {
    if (!isShared(key) || policy === 'keep') continue;
    if (policy === 'overwrite' || !shared.has(key)) shared.set(key, value);
  }
  return Object.fromEntries([...Object.entries(ownKeys(state)), ...shared]);
}

/** Returns the session's own keys. */
function ownKeys(state: Readonly<StateShape>): StateShape {
  const own = Object.entries(state).filter(([key]) => !isShared(key) && !isTemp(key));
  return Object.fromEntries(own);
}

/** Returns the delta that turns one state into the other. */
function differenceOf(made: Readonly<StateShape>, wanted: Readonly<StateShape>): StateShape {
  const difference = new Map<string, unknown>();
  for (const key of Object.keys(made)) {
    if (!Object.hasOwn(wanted, key)) difference.set(key, REMOVED);
  }
  for (const [key, value] of Object.entries(wanted)) {
    if (!Object.hasOwn(made, key) || !isSame(made[key], value)) difference.set(key, value);
  }
  return Object.fromEntries(difference);
}

/** Returns whether applying the event's delta to the wanted state changes nothing. */
function agrees({ actions }: Event, wanted: Readonly<StateShape>): boolean {
  return Object.entries(actions.stateDelta).every(([key, value]) => {
    if (isTemp(key)) return true;
    if (value === REMOVED || value === undefined) return !Object.hasOwn(wanted, key);
    return Object.hasOwn(wanted, key) && isSame(wanted[key], value);
  });
}

/** Compares two JSON values. Values that differ only in key order count as different, which does no harm here. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
