import type { Event } from '../event.js';
import { REMOVED } from '../scope.js';
import type { Session } from '../session.js';
import type { EventSnapshot } from '../snapshot.js';
import {
  isOvertaken,
  isSuperseded,
  markStored,
  takeOrder,
  type WriteOrder,
} from '../write_order.js';

/** An event on its way into the store. */
export interface PendingEvent<Order = unknown> {
  readonly snapshot: EventSnapshot;
  /** What {@link StateWriter.take} gave for it. */
  readonly order: Order;
}

/**
 * How an event's delta gets onto a handle's state. Two of them: ours, and the one in `adk/` that asks
 * the framework, whose order of writes nobody else can see.
 */
export interface StateWriter<Order = unknown> {
  /** At the call: when the event's delta was written, against the other writes of that state. */
  take(event: Event): Order;
  /**
   * When the event's turn has come, and before the commit. Changes nothing: the commit may fail.
   *
   * @returns the keys that are not to be stored, because a later write of them is already
   */
  before(
    session: Session,
    event: PendingEvent<Order>,
    ahead: readonly PendingEvent<Order>[],
  ): string[];
  /** After a commit that succeeded; `event` without the keys that were left out. */
  after(session: Session, event: PendingEvent<Order>): void;
}

/**
 * Sets or removes a key of a handle's state. Defines: a key like `__proto__` must not be assigned to.
 * Does not throw: what was committed must not fail because the caller froze the state meanwhile.
 */
export function writeKey(state: object, key: string, value: unknown): void {
  if (value === REMOVED || value === undefined) {
    Reflect.deleteProperty(state, key);
  } else {
    Reflect.defineProperty(state, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

/** By the order that `State` keeps; see `write_order.ts`. */
export const orderedWriter: StateWriter<WriteOrder> = {
  take(event) {
    const delta: unknown = (event as Partial<Event> | null)?.actions?.stateDelta;
    return takeOrder(typeof delta === 'object' && delta !== null ? delta : {});
  },
  before(session, { snapshot, order }, ahead) {
    const keys = Object.keys(snapshot.delta);
    if (keys.length === 0) return keys;
    const earlier = ahead.map(({ order, snapshot }) => ({ order, delta: snapshot.delta }));
    return keys.filter((key) => isSuperseded(session.state, order, key, earlier));
  },
  after(session, { snapshot, order }) {
    const { state } = session;
    const keys: string[] = [];
    for (const delta of [snapshot.delta, snapshot.temp]) {
      if (delta === undefined) continue;
      for (const key of Object.keys(delta)) {
        keys.push(key);
        if (isOvertaken(state, order, key)) continue;
        writeKey(state, key, delta[key]);
      }
    }
    if (keys.length > 0) markStored(state, order, keys);
  },
};
