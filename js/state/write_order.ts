/**
 * Which of several writes of one state key is the newest.
 *
 * Parallel agents share one state object, and each collects its writes in a delta of its own; their
 * events are appended in whatever order the agents finish. Without more, the delta that is appended
 * last wins, even where another agent wrote the key later: an old value would roll back a newer one.
 *
 * So every write through a {@link State} gets a number from one counter, kept for the state object
 * (the newest write that its readers can see) and for the delta (the write that it carries). They
 * are kept beside the objects, in WeakMaps: state and deltas stay plain data that anyone may read,
 * spread and serialise. A delta that nobody stamped was made by hand, and counts as written at the
 * moment when its event is appended.
 *
 * How a session service uses it, for one event on one handle:
 * 1. when `appendEvent` is called: `order = takeOrder(event.actions.stateDelta)`. At the call, as the
 *    writers may go on with the same delta object while the event waits for its turn;
 * 2. when its turn has come, the events ahead of it being committed: leave every key out of the
 *    stored delta that {@link isSuperseded} names;
 * 3. after the commit: apply to the handle each other key that is not {@link isOvertaken}, then
 *    {@link markStored} them. `temp:` keys go through 2 and 3 like all others, but for the storing.
 * Then a key of the handle holds the last write, and the stored state, which is the fold of the
 * stored deltas, holds the last write among those appended, in whatever order they were.
 *
 * @module
 */

type Stamps = Map<string, number>;

/** Of all writes in this copy of the module: a later write has the larger number. */
let clock = 0;

/** State object → key → its newest write, stored or not. */
const newestWrites = new WeakMap<object, Stamps>();
/** State object → key → its newest write that was stored through that object's handle. */
const storedWrites = new WeakMap<object, Stamps>();
/** Delta object → key → the write that it carries. */
const carriedWrites = new WeakMap<object, Stamps>();

/** When the writes of one delta were made, as it was when its event was appended. Opaque. */
export interface WriteOrder {
  /** Of every key that is not in `stamps`. */
  readonly appended: number;
  readonly stamps: ReadonlyMap<string, number> | undefined;
}

function stampsOf(map: WeakMap<object, Stamps>, owner: object): Stamps {
  let stamps = map.get(owner);
  if (stamps === undefined) map.set(owner, (stamps = new Map<string, number>()));
  return stamps;
}

function stampOf(order: WriteOrder, key: string): number {
  return order.stamps?.get(key) ?? order.appended;
}

/**
 * Records that `key` has just been written to the state object `value` and to `delta`, whatever the
 * written value is (a removal is a write as well).
 */
export function stampWrite(value: object, delta: object, key: string): void {
  const stamp = ++clock;
  stampsOf(newestWrites, value).set(key, stamp);
  stampsOf(carriedWrites, delta).set(key, stamp);
}

/** Whether `delta` carries a recorded write of `key`, rather than an entry made by hand. */
export function isStamped(delta: object, key: string): boolean {
  return carriedWrites.get(delta)?.has(key) ?? false;
}

/** Whether `delta` carries a recorded write of `key` that is newer than the one which `other` carries. */
export function isNewerWrite(delta: object, other: object, key: string): boolean {
  const stamp = carriedWrites.get(delta)?.get(key);
  const otherStamp = carriedWrites.get(other)?.get(key);
  return stamp !== undefined && otherStamp !== undefined && stamp > otherStamp;
}

/** Gives the entry `key` of the delta `to` the place in the order which it has in the delta `from`. */
export function carryStamp(from: object, to: object, key: string): void {
  const stamp = carriedWrites.get(from)?.get(key);
  if (stamp !== undefined) stampsOf(carriedWrites, to).set(key, stamp);
}

/** {@link carryStamp} for all keys of `to`, a delta that was copied from `from`. */
export function carryStamps(from: object, to: object): void {
  if (carriedWrites.has(from)) for (const key of Object.keys(to)) carryStamp(from, to, key);
}

/** Forgets the recorded write of `key`, for a delta out of which the entry is taken. */
export function dropStamp(delta: object, key: string): void {
  carriedWrites.get(delta)?.delete(key);
}

/**
 * The order of the writes in `delta`, fixed now. Entries made by hand count as written now.
 *
 * It is not kept for the delta: appending one hand-made delta twice is two writes.
 */
export function takeOrder(delta: object): WriteOrder {
  const stamps = carriedWrites.get(delta);
  // A copy: the context that owns the delta may write to it before the event is committed.
  return { appended: ++clock, stamps: stamps === undefined ? undefined : new Map(stamps) };
}

/**
 * Whether the state object holds a newer write of `key` than this delta, so that applying the delta
 * would roll it back.
 */
export function isOvertaken(value: object, order: WriteOrder, key: string): boolean {
  const newest = newestWrites.get(value)?.get(key);
  return newest !== undefined && newest > stampOf(order, key);
}

/**
 * Whether a newer write of `key` is stored already, so that this one is to be left out of the event
 * that would store it now.
 *
 * @param ahead - The order of the last event that stores the key in the same commit, before this one. It
 *   was not superseded itself, and so has the newest write of all before it.
 */
export function isSuperseded(
  value: object,
  order: WriteOrder,
  key: string,
  ahead?: WriteOrder,
): boolean {
  const own = stampOf(order, key);
  const stored = storedWrites.get(value)?.get(key);
  return (
    (stored !== undefined && stored > own) || (ahead !== undefined && stampOf(ahead, key) > own)
  );
}

/** Records that the writes of these keys were committed through the handle of the state object. */
export function markStored(value: object, order: WriteOrder, keys: Iterable<string>): void {
  const newest = newestWrites.get(value);
  // Nobody ever recorded a write to this state: then no older one can be waiting for its append.
  if (newest === undefined) return;
  for (const key of keys) {
    const last = newest.get(key);
    if (last === undefined) continue;
    const stamp = stampOf(order, key);
    if (stamp > last) newest.set(key, stamp);
    const stored = stampsOf(storedWrites, value);
    if (stamp > (stored.get(key) ?? 0)) stored.set(key, stamp);
  }
}

/** Whether a write of `key` was made through the state object and not stored yet. */
export function hasUnstoredWrite(value: object, key: string): boolean {
  const newest = newestWrites.get(value)?.get(key);
  return newest !== undefined && newest > (storedWrites.get(value)?.get(key) ?? 0);
}

/** Whether anyone ever recorded a write to the state object. */
export function isWritten(value: object): boolean {
  return newestWrites.has(value);
}
