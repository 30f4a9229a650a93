/**
 * The order of writes to a state key: which of several writes is the newest.
 *
 * Parallel agents share one state object, and each collects its writes in a delta of its own. Their
 * events are appended in the order in which the agents finish. If the last appended delta simply
 * won, an old value could overwrite a newer one of another agent.
 *
 * So every write through a {@link State} gets a number, its stamp, from one counter. The stamp is
 * kept for the state object (the newest write that its readers can see) and for the delta (the
 * write that it carries). Stamps are kept in WeakMaps beside the objects, so that states and deltas
 * stay plain data that anyone may read, spread and serialise. An entry without a stamp was made by
 * hand. It counts as written when its event is appended.
 *
 * A session service does this for each event on a handle:
 * 1. When `appendEvent` is called: `order = snapshotOrder(event.actions.stateDelta)`. It does so at the
 *    call, because agents may go on writing to the same delta object while the event waits for its
 *    turn.
 * 2. When its turn has come and the events before it are committed: leave every key for which
 *    {@link isSuperseded} is true out of the stored delta.
 * 3. After the commit: apply each other key to the handle unless {@link hasNewerWrite} is true for
 *    it, then call {@link markStored} for them. `temp:` keys go through steps 2 and 3 as well, but
 *    are not stored.
 *
 * Then each key of the handle holds its last write. The stored state is the fold of the stored
 * deltas, and holds the last write among those appended, in whatever order they were appended.
 *
 * @module
 */

type Stamps = Map<string, number>;

/** The counter of all writes in this copy of the module. A later write has a larger number. */
let clock = 0;

/** State object → key → stamp of its newest write, stored or not. */
const newestWrites = new WeakMap<object, Stamps>();
/** State object → key → stamp of its newest write that was stored through that object's handle. */
const storedWrites = new WeakMap<object, Stamps>();
/** Delta object → key → stamp of the write that it carries. */
const carriedWrites = new WeakMap<object, Stamps>();

/** The order of the writes of one delta, as it was when its event was appended. Opaque. */
export interface WriteOrder {
  /** The stamp of every key that is not in `stamps`. */
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
 * Stamps a write of `key` to the state object `value` and to `delta`. A removal is a write as well.
 */
export function stampWrite(value: object, delta: object, key: string): void {
  const stamp = ++clock;
  stampsOf(newestWrites, value).set(key, stamp);
  stampsOf(carriedWrites, delta).set(key, stamp);
}

/** Returns whether `delta` has a stamp for `key`; an entry made by hand has none. */
export function isStamped(delta: object, key: string): boolean {
  return carriedWrites.get(delta)?.has(key) ?? false;
}

/**
 * Returns whether the stamp of `key` in `delta` is newer than its stamp in `other`. Both must have
 * one.
 */
export function isNewerWrite(delta: object, other: object, key: string): boolean {
  const stamp = carriedWrites.get(delta)?.get(key);
  const otherStamp = carriedWrites.get(other)?.get(key);
  return stamp !== undefined && otherStamp !== undefined && stamp > otherStamp;
}

/** Copies the stamp of `key` from the delta `from` to the delta `to`. */
export function carryStamp(from: object, to: object, key: string): void {
  const stamp = carriedWrites.get(from)?.get(key);
  if (stamp !== undefined) stampsOf(carriedWrites, to).set(key, stamp);
}

/** Copies the stamps of all keys of `to`, a delta that was copied from `from`. */
export function carryStamps(from: object, to: object): void {
  if (carriedWrites.has(from)) for (const key of Object.keys(to)) carryStamp(from, to, key);
}

/** Removes the stamp of `key`, for a delta from which the entry is removed. */
export function dropStamp(delta: object, key: string): void {
  carriedWrites.get(delta)?.delete(key);
}

/**
 * Returns the order of the writes in `delta`, fixed now. Entries made by hand count as written now.
 *
 * The order is not kept for the delta: appending one hand-made delta twice makes two writes.
 */
export function snapshotOrder(delta: object): WriteOrder {
  const stamps = carriedWrites.get(delta);
  // A copy, because the delta's context may write to it before the event is committed.
  return { appended: ++clock, stamps: stamps === undefined ? undefined : new Map(stamps) };
}

/**
 * Returns whether the state object holds a newer write of `key` than this delta. Applying the delta
 * would then roll that write back.
 */
export function hasNewerWrite(value: object, order: WriteOrder, key: string): boolean {
  const newest = newestWrites.get(value)?.get(key);
  return newest !== undefined && newest > stampOf(order, key);
}

/**
 * Returns whether a newer write of `key` is already stored, so that this write must be left out of
 * its event.
 *
 * @param ahead - The order of the last earlier event in the same commit that stores the key. That
 *   event was not superseded itself, so it has the newest write of all events before this one.
 */
export function isSuperseded(
  value: object,
  order: WriteOrder,
  key: string,
  ahead?: WriteOrder,
): boolean {
  const stamp = stampOf(order, key);
  const stored = storedWrites.get(value)?.get(key);
  return (
    (stored !== undefined && stored > stamp) || (ahead !== undefined && stampOf(ahead, key) > stamp)
  );
}

/** Notes that the writes of these keys were committed through the handle of the state object. */
export function markStored(value: object, order: WriteOrder, keys: Iterable<string>): void {
  const newest = newestWrites.get(value);
  // No write to this state was ever stamped, so no older one can be waiting for its append.
  if (newest === undefined) return;
  for (const key of keys) {
    const newestStamp = newest.get(key);
    if (newestStamp === undefined) continue;
    const stamp = stampOf(order, key);
    if (stamp > newestStamp) newest.set(key, stamp);
    const stored = stampsOf(storedWrites, value);
    if (stamp > (stored.get(key) ?? 0)) stored.set(key, stamp);
  }
}

/** Returns whether a write of `key` was made through the state object and is not stored yet. */
export function hasUnstoredWrite(value: object, key: string): boolean {
  const newest = newestWrites.get(value)?.get(key);
  return newest !== undefined && newest > (storedWrites.get(value)?.get(key) ?? 0);
}

/** Returns whether any write to the state object was ever stamped. */
export function hasStampedWrite(value: object): boolean {
  return newestWrites.has(value);
}
