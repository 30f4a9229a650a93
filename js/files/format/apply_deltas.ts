/** Computes states from the deltas of events. */
import type { Event } from '../../model/event/event.js';
import { isTemp, REMOVED } from '../../state/scope.js';
import type { Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';

/**
 * Returns the state after applying the events' deltas to a given state. `temp:` keys are left out.
 *
 * @param state the state before the events; not changed
 */
export function applyDeltas(state: Readonly<StateShape>, events: readonly Event[]): StateShape {
  const result = new Map<string, unknown>(Object.entries(state));
  for (const { actions } of events) {
    for (const [key, value] of Object.entries(actions.stateDelta)) {
      if (value === REMOVED || value === undefined) result.delete(key);
      else result.set(key, value);
    }
  }
  return withoutTemp(result);
}

/**
 * Returns the state that a session must have had before its first event: the part that its events do not
 * explain.
 *
 * @returns the keys of `session.state` that no delta of its events sets or removes, without `temp:` ones
 */
export function initialState(session: Pick<Session, 'state' | 'events'>): StateShape {
  const { state, events } = session;
  const initial = new Map(Object.entries(state));
  for (const { actions } of events) {
    for (const key of Object.keys(actions.stateDelta)) initial.delete(key);
  }
  return withoutTemp(initial);
}

function withoutTemp(state: ReadonlyMap<string, unknown>): StateShape {
  return Object.fromEntries([...state].filter(([key]) => !isTemp(key)));
}
