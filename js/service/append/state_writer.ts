import type { Event } from '../../values/model/event/event.js';
import { copyJson } from '../../values/json/copy.js';
import type { Session } from '../../values/model/session.js';
import type { EventSnapshot } from '../../values/model/event/snapshot.js';
import {
  hasNewerWrite,
  isSuperseded,
  hasStampedWrite,
  markStored,
  snapshotOrder,
  type WriteOrder,
} from '../../values/state/write_order.js';
import { writeKey } from '../../values/state/keys.js';

/** An event that is not stored yet. */
export interface PendingEvent<Order = unknown> {
  readonly snapshot: EventSnapshot;
  /** The result of {@link StateWriter.recordOrder} for this event. */
  readonly order: Order;
}

/**
 * Writes an event's delta to a handle's state.
 *
 * There are two implementations: the default one, and the one in `adk/`, which uses the framework, since
 * only the framework knows the order of its writes.
 */
export interface StateWriter<Order = unknown> {
  /**
   * Called at the append. Returns when the delta was written, relative to other writes of the same
   * state.
   */
  recordOrder(event: Event): Order;
  /**
   * Called before the commit, in the order of the appends. Changes nothing, because the commit
   * may fail.
   *
   * @param ahead by key, the last earlier event of the same commit that stores the key
   * @returns the keys not to store, because a later write of them is stored already
   */
  findSuperseded(
    session: Session,
    event: PendingEvent<Order>,
    ahead: ReadonlyMap<string, PendingEvent<Order>>,
  ): string[];
  /** Called after a successful commit. The event lacks the keys that `findSuperseded` returned. */
  applyDelta(session: Session, event: PendingEvent<Order>): void;
}

/**
 * Returns the value that a handle's state gets for a key of an event's delta. State and event must
 * not share an object.
 *
 * If the delta was made from the object that still is in the state, that object stays there, since
 * agents go on using it. Otherwise the value is copied.
 */
export function valueFor(
  state: Record<string, unknown>,
  key: string,
  { delta, callerDelta }: EventSnapshot,
): unknown {
  const value = delta[key];
  if (typeof value !== 'object' || value === null) return value;
  const live = callerDelta?.[key];
  return Object.hasOwn(state, key) && state[key] === live ? live : copyJson(value);
}

/** The writer that follows the order kept by `State`; see `write_order.ts`. */
export const orderedWriter: StateWriter<WriteOrder> = {
  recordOrder(event) {
    const delta: unknown = (event as Partial<Event> | null)?.actions?.stateDelta;
    return snapshotOrder(typeof delta === 'object' && delta !== null ? delta : {});
  },
  findSuperseded({ state }, { snapshot, order }, ahead) {
    // The state was changed only by appends, so no write can be out of order.
    if (!hasStampedWrite(state)) return [];
    const keys = Object.keys(snapshot.delta);
    return keys.filter((key) => isSuperseded(state, order, key, ahead.get(key)?.order));
  },
  applyDelta({ state }, { snapshot, order }) {
    writeDelta(state, snapshot.delta, order, snapshot);
    if (snapshot.temp !== undefined) writeDelta(state, snapshot.temp, order);
  },
};

function writeDelta(
  state: Record<string, unknown>,
  delta: Record<string, unknown>,
  order: WriteOrder,
  snapshot?: EventSnapshot,
): void {
  const written = hasStampedWrite(state);
  const keys = Object.keys(delta);
  for (const key of keys) {
    if (written && hasNewerWrite(state, order, key)) continue;
    writeKey(state, key, snapshot === undefined ? delta[key] : valueFor(state, key, snapshot));
  }
  if (written) markStored(state, order, keys);
}
