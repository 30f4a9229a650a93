import type { Event } from '../model/event.js';
import { copyJson } from '../json/copy.js';
import { defineMember } from '../members/member.js';
import { REMOVED } from '../state/scope.js';
import type { Session } from '../model/session.js';
import type { EventSnapshot } from '../model/snapshot.js';
import {
  isOvertaken,
  isSuperseded,
  isWritten,
  markStored,
  takeOrder,
  type WriteOrder,
} from '../state/write_order.js';
import { invalid, shown } from '../call/call.js';

/** An event on its way into the store. */
export interface PendingEvent<Order = unknown> {
  readonly snapshot: EventSnapshot;
  /** What {@link StateWriter.take} gave for it. */
  readonly order: Order;
}

/**
 * How an event's delta gets onto a handle's state. Two of them: ours, and the one in `adk/` that asks
 * the framework, whose order of writes nobody else can see. Users only hand it on, to a service that
 * they make for `overService`.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, type StateWriter } from 'adk-session-wasm';
 * import { overService } from 'adk-session-wasm/adk';
 *
 * const forTests = (stateWriter: StateWriter) =>
 *   new InMemorySessionService({ stateWriter, clock: () => 1_700_000_000_000 });
 * const sessionService = overService(({ stateWriter }) => forTests(stateWriter));
 * ```
 */
export interface StateWriter<Order = unknown> {
  /** At the call: when the event's delta was written, against the other writes of that state. */
  take(event: Event): Order;
  /**
   * When the event's turn has come, and before the commit. Changes nothing: the commit may fail.
   *
   * @param ahead by key, the last event before it in the same commit that stores that key
   * @returns the keys that are not to be stored, because a later write of them is already
   */
  before(
    session: Session,
    event: PendingEvent<Order>,
    ahead: ReadonlyMap<string, PendingEvent<Order>>,
  ): string[];
  /** After a commit that succeeded; `event` without the keys that were left out. */
  after(session: Session, event: PendingEvent<Order>): void;
}

/**
 * Sets or removes a key of a handle's state. Does not throw: what was committed must not fail because
 * the caller froze the state meanwhile.
 */
export function writeKey(state: Record<string, unknown>, key: string, value: unknown): void {
  if (value === REMOVED || value === undefined) Reflect.deleteProperty(state, key);
  else defineMember(state, key, value);
}

/**
 * What a handle's state gets of an event's delta, which it must not share with the event: the state's own
 * object, where that is what the delta was made of and agents go on with it, else a copy.
 */
export function valueFor(
  state: Record<string, unknown>,
  key: string,
  { delta, given }: EventSnapshot,
): unknown {
  const value = delta[key];
  if (typeof value !== 'object' || value === null) return value;
  const live = given?.[key];
  return Object.hasOwn(state, key) && state[key] === live ? live : copyJson(value);
}

const STEPS = ['take', 'before', 'after'] as const;

/** The writer that a service was given as its option, else ours. */
export function writerOf(writer: StateWriter | undefined): StateWriter {
  if (writer === undefined) return orderedWriter;
  const given = writer as Partial<StateWriter> | null;
  if (STEPS.every((step) => typeof given?.[step] === 'function')) return writer;
  const origin = 'what overService of adk-session-wasm/adk hands in';
  throw invalid('stateWriter', `must be ${origin}; it is ${shown(writer)}`);
}

/** By the order that `State` keeps; see `write_order.ts`. */
export const orderedWriter: StateWriter<WriteOrder> = {
  take(event) {
    const delta: unknown = (event as Partial<Event> | null)?.actions?.stateDelta;
    return takeOrder(typeof delta === 'object' && delta !== null ? delta : {});
  },
  before({ state }, { snapshot, order }, ahead) {
    // Nobody writes to this state but by appending: nothing can be out of order.
    if (!isWritten(state)) return [];
    const keys = Object.keys(snapshot.delta);
    return keys.filter((key) => isSuperseded(state, order, key, ahead.get(key)?.order));
  },
  after({ state }, { snapshot, order }) {
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
  const written = isWritten(state);
  const keys = Object.keys(delta);
  for (const key of keys) {
    if (written && isOvertaken(state, order, key)) continue;
    writeKey(state, key, snapshot === undefined ? delta[key] : valueFor(state, key, snapshot));
  }
  if (written) markStored(state, order, keys);
}
