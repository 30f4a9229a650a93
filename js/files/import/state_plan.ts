/**
 * How a service is brought to the state of a file, if all it can do is to create a session, and to
 * apply the deltas of events.
 *
 * The events alone make another state than the file has where something else changed it meanwhile: for
 * `user:` and `app:` keys another session, for its own a hand, or an event that was replaced later. A
 * further event for the difference would be one that the file does not have. But an event that is
 * appended once more replaces itself: the *carrier*, an event whose own delta says nothing else than
 * the wanted state (most have none), is appended with the difference as its delta, and then as it
 * is, all in one step with the others.
 */
import { type Event, newEventId } from '../../model/event.js';
import { isShared, isTemp, REMOVED } from '../../state/scope.js';
import type { Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import { initialState, madeOf } from '../format/fold.js';
import { malformed } from '../format/malformed.js';

/**
 * What an import does to `user:` and `app:` keys, which other sessions see too.
 *
 * - `'fill'`: those that the store does not have are set; those that it has stay.
 * - `'overwrite'`: all that the file has are set.
 * - `'keep'`: none is changed.
 *
 * @example
 * ```ts
 * import type { SharedState } from 'adk-session-wasm/files';
 *
 * const restoring: SharedState = 'overwrite';
 * ```
 */
export type SharedState = 'fill' | 'overwrite' | 'keep';

/** What to do, in this order. */
export interface StatePlan {
  /** To create the session with. */
  readonly initial: StateShape;
  /** To append, all at once. */
  readonly events: readonly Event[];
  /** `user:` and `app:` keys to change at last, if there is no carrier. */
  readonly afterwards: StateShape;
}

/** Whether storing the session may change `user:` or `app:` keys. */
export function touchesShared({ state, events }: Session): boolean {
  return (
    Object.keys(state).some(isShared) ||
    events.some(({ actions }) => Object.keys(actions.stateDelta).some(isShared))
  );
}

/**
 * @param live the `user:` and `app:` keys that the store has
 * @throws SessionError `invalid_argument`, if the file's events contradict its state so that no event
 *   can be the carrier
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
    // Or else the two would be two events.
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

/** The keys that are the session's own. */
function ownKeys(state: Readonly<StateShape>): StateShape {
  const own = Object.entries(state).filter(([key]) => !isShared(key) && !isTemp(key));
  return Object.fromEntries(own);
}

/** The delta that makes one state the other. */
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

/** Whether applying the event's delta to the wanted state changes nothing. */
function agrees({ actions }: Event, wanted: Readonly<StateShape>): boolean {
  return Object.entries(actions.stateDelta).every(([key, value]) => {
    if (isTemp(key)) return true;
    if (value === REMOVED || value === undefined) return !Object.hasOwn(wanted, key);
    return Object.hasOwn(wanted, key) && isSame(wanted[key], value);
  });
}

/** Both are JSON. Those that differ in the order of members count as two, which does no harm here. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
