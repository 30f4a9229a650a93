/**
 * Plans how an import reaches the state of a file.
 *
 * The events alone may produce another state than the file has. `user:` and `app:` keys may have been changed
 * by another session. The session's own keys may have been edited by hand, or an event was replaced later.
 * The creation gets the difference as its `stateDelta`.
 */
import { foldState } from '../../../core/history/fold.js';
import { splitByScope } from '../../../values/state/keys.js';
import { isEqualJson } from '../../../values/json/equal.js';
import { isShared, REMOVED } from '../../../values/state/scope.js';
import type { Session } from '../../../values/model/session.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { StoredSession } from '../format/session_file.js';

/**
 * How an import changes `user:` and `app:` keys, which other sessions see too.
 *
 * - `'fill'`: keys that the store does not have are set; existing keys stay. The import reads the stored keys before it
 *   writes. If another program first sets a key in between, the file's value replaces it.
 * - `'keep'`: no key is changed.
 */
export type SharedState = 'fill' | 'keep';

/** The members that reach the state of a file; see `CreateSessionRequest`. */
interface StatePlan {
  readonly state: StateShape;
  readonly initialState: 'unknown' | undefined;
  readonly stateDelta: StateShape;
  readonly sharedState: 'keep';
}

/**
 * Returns the members of a request to create the session of a file.
 *
 * @param storedShared the `user:` and `app:` keys that the store has
 */
export function planState(
  { session, initialState: known }: StoredSession,
  storedShared: Readonly<StateShape>,
  policy: SharedState,
): StatePlan {
  const state = splitByScope(known ?? initialState(session)).session;
  const stateDelta = deltaBetween(
    splitByScope(foldState(state, session.events)).session,
    splitByScope(session.state).session,
  );
  for (const [key, value] of Object.entries(session.state)) {
    const isMissing = isShared(key) && !Object.hasOwn(storedShared, key);
    if (isMissing && policy === 'fill') stateDelta.set(key, value);
  }
  // The events' own values of shared keys are older than those of the file.
  const isKnown = known !== undefined || session.events.length === 0;
  return {
    state,
    initialState: isKnown ? undefined : 'unknown',
    stateDelta: Object.fromEntries(stateDelta),
    sharedState: 'keep',
  };
}

/**
 * Returns the state that a session must have had before its first event, without `temp:` keys: the keys of its state
 * that no delta of its events sets or removes.
 */
export function initialState({ state, events }: Pick<Session, 'state' | 'events'>): StateShape {
  const changed = new Set(events.flatMap(({ actions }) => Object.keys(actions.stateDelta)));
  return Object.fromEntries(Object.entries(state).filter(([key]) => !changed.has(key)));
}

/** Returns the delta that turns one state into the other. */
function deltaBetween(from: Readonly<StateShape>, to: Readonly<StateShape>): Map<string, unknown> {
  const delta = new Map<string, unknown>();
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key)) delta.set(key, REMOVED);
  }
  for (const [key, value] of Object.entries(to)) {
    if (!Object.hasOwn(from, key) || !isEqualJson(from[key], value)) delta.set(key, value);
  }
  return delta;
}
