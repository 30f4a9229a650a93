import type { REMOVED } from './scope.js';

/**
 * The state that an agent sees: one map of all scopes. The prefix of a key gives its scope. It is the state type of
 * a service without one of its own.
 */
export type StateShape = Record<string, unknown>;

/** The changes of a state of shape `S`. `undefined` and `State.REMOVED` remove a key. */
export type StateDelta<S> = { [K in keyof S]?: S[K] | typeof REMOVED | undefined };

/**
 * Computes the changes of a state of shape `S` from the stored state, for `updateState`, so that concurrent calls
 * can count. It is synchronous, and the storage may call it more than once. It changes nothing if it returns `{}`.
 */
export type ComputeDelta<S extends object = StateShape> = {
  /** A method and no function type: a service of shape `S` then fits where a service of any shape is expected. */
  compute(state: Partial<S>): StateDelta<S>;
}['compute'];

/** The keys of `S`, for an editor to suggest. Any other key is allowed too. */
export type StateKey<S> = (keyof S & string) | (string & {});

/** The type of a key's value in `S`; `unknown` for a key that `S` does not name. */
export type StateValue<S, K extends string> = (S & StateShape)[K];

/** The changes for `State.update`: `undefined` or `State.REMOVED` removes a key. */
export type StateChanges<S> = StateDelta<S> & StateShape;

/** The keys that `S` names; none for a state of any shape. */
export type NamedKey<S> = string extends keyof S ? never : keyof S & string;

/** Widens a literal default: `0` stands for any number. */
export type Widened<D> = D extends string
  ? string
  : D extends number
    ? number
    : D extends boolean
      ? boolean
      : D;
