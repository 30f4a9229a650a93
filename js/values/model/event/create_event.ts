import type { Event, EventActions, NewEvent } from './event.js';
import { takeContent } from './parts.js';

/**
 * The parameter of {@link createEventActions}: any of the fields.
 */
export type CreateEventActionsParams = { [K in keyof EventActions]?: EventActions[K] | undefined };

/**
 * The parameter of {@link createEvent}: any of the fields, partial `actions`, and fields of your
 * own.
 */
export type CreateEventParams = {
  [K in Exclude<keyof Event, 'actions' | 'content'>]?: Event[K] | undefined;
} & Pick<NewEvent, 'content'> & {
    /** Any of the actions' fields. */
    actions?: CreateEventActionsParams | undefined;
  };

/** Returns a UUID v4, for an event without an id. */
export function newEventId(): string {
  // Browsers have randomUUID only in secure contexts; a page on http://192.168.… lacks it.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Removes members that are `undefined`: JSON has none, but `Object.keys` would list them. */
function withoutUndefined<T extends object>(given: T): T {
  const value = { ...given };
  for (const key of Object.keys(value) as (keyof T)[]) {
    if (value[key] === undefined) delete value[key];
  }
  return value;
}

/**
 * Creates actions with all four maps set.
 *
 * @param params any of the fields. The state delta is copied one level deep, because contexts go on
 *   writing to their own delta.
 *
 * @example
 * ```ts
 * import { createEventActions } from 'adk-session-wasm';
 *
 * createEventActions({ escalate: true }).artifactDelta; // {}
 * ```
 */
export function createEventActions(params: CreateEventActionsParams = {}): EventActions {
  const given = withoutUndefined(params) as Partial<EventActions>;
  const actions: EventActions = {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
    ...given,
  };
  // A spread defines properties, so that a key named `__proto__` stays a key.
  actions.stateDelta = { ...given.stateDelta };
  return actions;
}

/**
 * Creates an event with id, timestamp and actions.
 *
 * @param params any of the fields, and fields of your own, which the result's type then has.
 *   Defaults, also for `undefined`: `id` is a UUID v4 (also for `''`), `timestamp` is now,
 *   `invocationId` is `''`, `actions` are empty. `params` is not changed, and its delta is not
 *   shared.
 *
 * @example
 * ```ts
 * import { createEvent } from 'adk-session-wasm';
 *
 * const event = createEvent({
 *   author: 'shop_agent',
 *   content: { role: 'model', parts: [{ text: 'Welcome back!' }] },
 *   actions: { stateDelta: { 'user:visits': 2 } },
 * });
 * ```
 */
export function createEvent<P extends CreateEventParams = CreateEventParams>(
  params?: P,
): Event & Omit<P, keyof Event> {
  const given: CreateEventParams = withoutUndefined<CreateEventParams>(params ?? {});
  const { author, content } = given;
  if (typeof content === 'string') given.content = takeContent(content, author);
  const id = given.id ?? '';
  const event: unknown = {
    ...given,
    id: id === '' ? newEventId() : id,
    invocationId: given.invocationId ?? '',
    actions: createEventActions(given.actions),
    timestamp: given.timestamp ?? Date.now(),
  };
  return event as Event & Omit<P, keyof Event>;
}
