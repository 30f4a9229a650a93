import type { Event } from '../../values/model/event/event.js';
import { isPlainObject } from '../../values/json/rules.js';
import { writeKey } from '../../values/state/keys.js';
import { isShared, isTemp } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { isFilled, rewindTargetOf } from './marks.js';

/**
 * Folds a history. At a rewind the fold continues with the value that it had at the rewind's cut: before the first
 * event of the target. A rewind before itself, or before an invocation that has no event yet, changes nothing.
 *
 * The rule is also in `src/core/history/rewinds.rs`. A state is folded where the wasm is not loaded, such as in
 * `adk-session-wasm/files`.
 *
 * @param next returns the value after an event that is no rewind; it must not change the given value
 * @param onRewind called with the value that a rewind ends, and with the rewind
 * @param older the invocations that begin before the events: a rewind before one leads to the initial value
 */
export function foldHistory<Value>(
  events: readonly Event[],
  initial: Value,
  next: (value: Value, event: Event) => Value,
  onRewind?: (ended: Value, rewind: Event) => void,
  older: readonly string[] = [],
): Value {
  let value = initial;
  /** For each invocation the value before its first event. */
  const before = new Map<string, Value>(older.map((invocation) => [invocation, initial]));
  for (const event of events) {
    const { invocationId } = event;
    if (isFilled(invocationId) && !before.has(invocationId)) before.set(invocationId, value);
    const target = rewindTargetOf(event);
    if (target === undefined) {
      value = next(value, event);
      continue;
    }
    onRewind?.(value, event);
    if (before.has(target)) value = before.get(target)!;
  }
  return value;
}

/** A delta, and those before it. Deltas of branches that begin with the same events share these. */
interface DeltaChain {
  readonly earlier: DeltaChain | undefined;
  readonly delta: Readonly<StateShape>;
}

/**
 * Returns the deltas that lead to the state after the events, in their order. The deltas of undone events are not among
 * them, nor those of rewinds: what a rewind stores is for programs that do not know its cut.
 *
 * @param older see {@link foldHistory}
 */
export function countedDeltas(
  events: readonly Event[],
  older?: readonly string[],
): Readonly<StateShape>[] {
  const next = (earlier: DeltaChain | undefined, event: Event): DeltaChain | undefined => {
    const delta = deltaOf(event);
    return delta === undefined ? earlier : { earlier, delta };
  };
  let last = foldHistory(events, undefined, next, undefined, older);
  const deltas: Readonly<StateShape>[] = [];
  for (; last !== undefined; last = last.earlier) deltas.push(last.delta);
  return deltas.reverse();
}

/**
 * Returns the state after events, without `temp:` keys. Undone events count for `user:` and `app:` keys: a rewind does
 * not change these.
 *
 * @param initial the state before the events; not changed
 */
export function foldState(initial: Readonly<StateShape>, events: readonly Event[]): StateShape {
  const state: StateShape = {};
  applyDeltas(state, [initial, ...countedDeltas(events)], isOwnKey);
  applyDeltas(state, [initial, ...events.map(deltaOf)], isShared);
  return state;
}

/** Applies deltas to a state, in order, so far as a key is wanted. */
export function applyDeltas(
  state: StateShape,
  deltas: readonly (Readonly<StateShape> | undefined)[],
  isWanted: (key: string) => boolean,
): void {
  for (const delta of deltas) {
    for (const [key, value] of Object.entries(delta ?? {})) {
      if (isWanted(key)) writeKey(state, key, value);
    }
  }
}

/** Returns the session's own keys that the delta of an event has. */
export function ownKeysOf(event: Event): string[] {
  return Object.keys(deltaOf(event) ?? {}).filter(isOwnKey);
}

/** Returns whether a key belongs to the session itself, and is stored. */
export function isOwnKey(key: string): boolean {
  return !isShared(key) && !isTemp(key);
}

/** Returns the delta of an event. Another program may have stored anything in its place. */
function deltaOf(event: Event): Readonly<StateShape> | undefined {
  const delta: unknown = event.actions?.stateDelta;
  return isPlainObject(delta) ? delta : undefined;
}
