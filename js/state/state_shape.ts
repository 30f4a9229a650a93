import type { REMOVED } from './scope.js';

/**
 * The state that an agent sees: one map of all scopes. The prefix of a key gives its scope. It is the state type of
 * a service without one of its own.
 *
 * @example
 * ```ts
 * import type { StateShape } from 'adk-session-wasm';
 *
 * const state: StateShape = { topic: 'tea', 'user:name': 'Ada' };
 * ```
 */
export type StateShape = Record<string, unknown>;

/**
 * The changes of a state of shape `S`. `undefined` and `State.REMOVED` remove a key.
 *
 * @example
 * ```ts
 * import type { StateDelta } from 'adk-session-wasm';
 *
 * const delta: StateDelta<{ topic: string; 'user:visits': number }> = { topic: undefined, 'user:visits': 2 };
 * ```
 */
export type StateDelta<S> = { [K in keyof S]?: S[K] | typeof REMOVED | undefined };

/**
 * Computes the changes of a state of shape `S` from the stored state, for `updateState`, so that concurrent calls
 * can count. It is synchronous, and the storage may call it more than once. It changes nothing if it returns `{}`.
 *
 * @example
 * ```ts
 * import type { ComputeDelta } from 'adk-session-wasm';
 *
 * const visit: ComputeDelta<{ 'user:visits': number }> = ({ 'user:visits': visits = 0 }) => ({
 *   'user:visits': visits + 1,
 * });
 * ```
 */
export type ComputeDelta<S extends object = StateShape> = {
  /** A method and no function type: a service of shape `S` then fits where a service of any shape is expected. */
  compute(state: Partial<S>): StateDelta<S>;
}['compute'];
