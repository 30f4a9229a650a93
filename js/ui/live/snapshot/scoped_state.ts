import { defineMember } from '../../../values/members.js';
import { type SharedScope, storedScopeOf } from '../../../values/state/scope.js';
import type { StateShape } from '../../../values/state/state_shape.js';

/** A state by scope. The keys have their prefixes. */
export interface ScopedState<S extends object = StateShape> {
  /** The session's own keys. */
  readonly session: Readonly<Partial<Omit<S, `${SharedScope}:${string}`>>>;
  /** The keys that begin with `user:`. */
  readonly user: Readonly<Partial<Pick<S, keyof S & `user:${string}`>>>;
  /** The keys that begin with `app:`. */
  readonly app: Readonly<Partial<Pick<S, keyof S & `app:${string}`>>>;
}

/** Splits a state by scope. */
export function splitState<S extends object>(state: Partial<S>): ScopedState<S> {
  const split = { session: {}, user: {}, app: {} };
  for (const key of Object.keys(state)) {
    defineMember(split[storedScopeOf(key)], key, state[key as keyof S]);
  }
  return split as ScopedState<S>;
}
