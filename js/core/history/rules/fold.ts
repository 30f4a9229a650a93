import type { Event } from '../../../values/model/event/event.js';
import { isPlainObject } from '../../../values/json/rules.js';
import { writeKey } from '../../../values/state/keys.js';
import { isShared, isTemp } from '../../../values/state/scope.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { isFilled, rewindTargetOf } from '../../../values/model/event/markers.js';

/** A delta, and those before it. Deltas of branches that begin with the same events share these. */
interface DeltaChain {
  readonly earlier: DeltaChain | undefined;
  readonly delta: Readonly<StateShape>;
}

/**
 * Returns the deltas that lead to the state after the events, in their order: those of the events that no rewind has
 * undone. A rewind continues with the deltas before the first event of its target. Its own delta is for programs that
 * do not know this.
 *
 * The rule is also in `src/core/view_rules/rewinds.rs`. The wasm is not loaded in `adk-session-wasm/files`.
 */
export function countedDeltas(events: readonly Event[]): Readonly<StateShape>[] {
  let last: DeltaChain | undefined;
  /** For each invocation the last delta before its first event. */
  const before = new Map<string, DeltaChain | undefined>();
  for (const event of events) {
    const { invocationId } = event;
    if (isFilled(invocationId) && !before.has(invocationId)) before.set(invocationId, last);
    const target = rewindTargetOf(event);
    const delta = target === undefined ? deltaOf(event) : undefined;
    if (delta !== undefined) last = { earlier: last, delta };
    if (target !== undefined && before.has(target)) last = before.get(target);
  }
  const deltas: Readonly<StateShape>[] = [];
  for (; last !== undefined; last = last.earlier) deltas.push(last.delta);
  return deltas.reverse();
}

/** Returns the deltas of events, in order. */
export function deltasOf(events: readonly Event[]): Readonly<StateShape>[] {
  return events.map(deltaOf).filter((delta) => delta !== undefined);
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
