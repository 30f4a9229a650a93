/** How an append changes a handle: its rules, and the writers of events' deltas into the state. */
import type { StalePolicy } from '../../core/wasm/protocol.js';
import { SessionError } from '../../values/errors/errors.js';
import { requireOneOf } from '../../values/errors/option_values.js';
import { copyJson } from '../../values/json/copy.js';
import type { Event } from '../../values/model/event/event.js';
import type { EventSnapshot } from '../../values/model/event/snapshot.js';
import type { Session } from '../../values/model/session.js';
import { writeKey } from '../../values/state/keys.js';
import {
  hasNewerWrite,
  isSuperseded,
  hasStampedWrite,
  markStored,
  snapshotOrder,
  type WriteOrder,
} from '../../values/state/write_order.js';

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

/** An event taken at the call, with the caller's object that it was taken from. */
export interface EventToStore extends PendingEvent {
  readonly event: Event;
}

/** Returns the event without the given keys of its delta. */
export function withoutKeys(taken: EventToStore, keys: readonly string[]): EventToStore {
  if (keys.length === 0) return taken;
  const { snapshot } = taken;
  const delta: Record<string, unknown> = { ...snapshot.delta };
  const stored = JSON.parse(snapshot.deltaText) as Record<string, unknown>;
  const event = JSON.parse(snapshot.text) as Event;
  const eventDelta = { ...snapshot.actions.stateDelta };
  for (const key of keys) {
    for (const each of [delta, stored, event.actions.stateDelta, eventDelta]) {
      Reflect.deleteProperty(each, key);
    }
  }
  const reduced: EventSnapshot = {
    ...snapshot,
    delta,
    deltaText: JSON.stringify(stored),
    text: JSON.stringify(event),
    whole: snapshot.text,
    actions: { ...snapshot.actions, stateDelta: eventDelta },
  };
  return { ...taken, snapshot: reduced };
}

/** How an append changes its handle. */
export interface AppendRules {
  readonly stale: StalePolicy;
  readonly writer: StateWriter;
}

const RULES = Symbol.for('adk-session-wasm.appendRules');

/** All copies of this package share the map: a bundler may put the service and its wrapper into two copies. */
const realm = globalThis as { [RULES]?: WeakMap<object, AppendRules> };

/**
 * Sets the rules of an append, in place of those of the service that stores the events.
 *
 * The rules belong to the events and not to the request. A user's own service may lie before the one
 * that stores, and pass on a request of its own.
 */
export function setAppendRules(events: readonly unknown[], rules: AppendRules): void {
  for (const event of events) {
    if (typeof event === 'object' && event !== null)
      (realm[RULES] ??= new WeakMap()).set(event, rules);
  }
}

/** Returns the rules that were set for an append of these events. */
export function appendRulesOf([first]: readonly object[]): AppendRules | undefined {
  return first && realm[RULES]?.get(first);
}

/** `createEvent` of every copy of `@google/adk` gives its events this member. */
const FRAMEWORK_EVENT = Symbol.for('google.adk.event');

/**
 * Refuses the framework's events if no wrapper of `./adk` has set rules for them: a `Runner`
 * without `asAdkService` would run with other defaults, and without its order of parallel writes.
 *
 * @throws SessionError `unsupported`
 */
export function refuseFrameworkEvents(events: readonly object[]): void {
  if (!events.some(isFrameworkEvent)) return;
  throw new SessionError(
    'unsupported',
    "This service does not store events of '@google/adk'. Give the Runner asAdkService(service), " +
      "imported from 'adk-session-wasm/adk'.",
  );
}

/** Returns `false` for a value that is not an event or throws when it is read: the snapshot refuses that. */
function isFrameworkEvent(event: { [FRAMEWORK_EVENT]?: unknown } | null): boolean {
  try {
    return event?.[FRAMEWORK_EVENT] === true;
  } catch {
    return false;
  }
}

/** @throws SessionError `invalid_argument` for anything but a policy */
export function requireStalePolicy(stale: unknown): StalePolicy {
  return requireOneOf('stale', stale, ['merge', 'append', 'reject']);
}
