/**
 * What is taken from a caller's event or state at the moment of the call: JSON text, made once, and
 * beside it the values that the handle gets. From here on nothing the caller does to their objects
 * reaches storage.
 *
 * Nothing here stores anything or touches a handle. The only thing changed on the caller's event is
 * `id` and `timestamp`, if it has none; {@link applySnapshot} does the rest after the commit.
 */
import { createEventActions, type Event, type EventActions } from './event.js';
import { SessionError, isSessionError } from '../errors/errors.js';
import { isTooLong, tooLong } from '../json/too_long.js';
import { checkEvent } from '../json/check.js';
import { takeDelta, type DeltaSnapshot } from '../state/delta.js';
import { defineMember, setMember } from '../members/member.js';
import { kindOf, unserializable } from '../json/rules.js';
import { fitsUtf8, isWellFormed, replaceLoneSurrogates } from '../json/text.js';
import { tooLarge, writeJson } from '../json/write.js';

export type { DeltaSnapshot } from '../state/delta.js';

/** The latest timestamp: the last millisecond of the year 9999, where databases' dates end. */
export const MAX_TIMESTAMP = 253402300799999;

/** Whether `value` is a time: milliseconds since 1970, 0 to {@link MAX_TIMESTAMP}. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TIMESTAMP;
}

/** Bytes of UTF-8 that an id may take. */
export const MAX_ID_BYTES = 512;

/**
 * An initial state as it is stored, all scopes in one, `temp:` keys dropped. Like a delta it may remove:
 * `user:` and `app:` keys may be there before the session is.
 *
 * @example
 * ```ts
 * snapshotState({ a: 1, 'temp:b': 2 }).text; // '{"a":1}'
 * ```
 */
export interface StateSnapshot {
  /** JSON text of `values`. */
  readonly text: string;
  /** A new ordinary object, with values as in {@link DeltaSnapshot.delta}. */
  readonly values: Record<string, unknown>;
  /** The dropped `temp:` keys, by reference; `undefined` if there were none. */
  readonly temp: Record<string, unknown> | undefined;
}

/**
 * An event as it is stored.
 *
 * @example
 * ```ts
 * import { createEvent } from 'adk-session-wasm';
 *
 * const event = createEvent({ author: 'user' });
 * const snapshot = snapshotEvent(event, Date.now, () => 'e1');
 * console.log(snapshot.text); // what is committed
 * applySnapshot(event, snapshot);
 * ```
 */
export interface EventSnapshot {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /**
   * JSON text of the whole event as it is stored: `temp:` keys taken out, removals as `REMOVED`,
   * id, timestamp and actions filled in. The same event gives the same text again, byte for byte,
   * whether its append failed or succeeded in between.
   */
  readonly text: string;
  /**
   * `text` as it was before superseded keys were taken out of its delta, if any were: an event that is
   * stored so is this one as well.
   */
  readonly whole?: string;
  /** JSON text of the stored delta alone: exactly the characters that stand in `text`. */
  readonly deltaText: string;
  /** The stored delta as a new object that shares nothing with the caller's. */
  readonly delta: Record<string, unknown>;
  /** The same with the caller's own objects, see {@link DeltaSnapshot.delta}; absent if there are none. */
  readonly given: Record<string, unknown> | undefined;
  /** See {@link DeltaSnapshot.temp}. */
  readonly temp: Record<string, unknown> | undefined;
  /** A new object: the event's actions, or empty ones, with `delta` as their `stateDelta`. */
  readonly actions: EventActions;
}

/**
 * Takes a delta: `temp:` keys aside before anything looks at their values, all others by the state
 * rules (see `json/rules.ts`). The caller's object is not changed.
 *
 * @param delta a plain object; `undefined` is an empty one. A top-level `undefined` or `REMOVED` is a
 *   removal. Any well-formed key is allowed, the empty one too.
 * @throws SessionError `invalid_argument` if it is no plain object, `unserializable` with `path`
 *
 * @example
 * ```ts
 * const { text, delta, temp } = snapshotDelta({ 'user:name': 'Ada', 'temp:now': () => Date.now() });
 * ```
 */
export function snapshotDelta(delta: unknown): DeltaSnapshot {
  return takeDelta(delta, 'The state delta');
}

/**
 * Takes an initial state.
 *
 * @param state a plain object; `undefined` is an empty one
 * @throws SessionError `invalid_argument` if it is no plain object, `unserializable` with `path`
 *
 * @example
 * ```ts
 * const { text, values } = snapshotState({ 'app:motd': 'hello', visits: 0 });
 * ```
 */
export function snapshotState(state: unknown): StateSnapshot {
  const { text, delta, temp } = takeDelta(state, 'The state');
  return { text, values: delta, temp };
}

/**
 * Takes an event.
 *
 * If it has no `id` (absent or empty) or no `timestamp`, they are set on it now, so that a retry is the
 * same event; it is otherwise unchanged, and wholly so if this throws `invalid_argument` or
 * `unserializable`.
 *
 * @param clock gives the time, in milliseconds since 1970; fractions of it are cut off
 * @param newId gives an id that nobody has
 * @throws SessionError `invalid_argument`: no object, a bad id or timestamp, `actions` that are no
 *   object, a `stateDelta` that is no plain object, or an event that cannot be filled in afterwards;
 *   `unserializable`, with `path` counted from the event, or from the delta for state values
 *
 * @example
 * ```ts
 * import { createEvent } from 'adk-session-wasm';
 *
 * const event = createEvent({ author: 'user', content: { parts: [{ text: 'hi' }] } });
 * snapshotEvent(event, Date.now, () => 'e1').deltaText; // '{}'
 * ```
 */
export function snapshotEvent(
  event: Event,
  clock: () => number,
  newId: () => string,
): EventSnapshot {
  try {
    checkWritable(event);
    return takeEvent(event, clock, newId);
  } catch (error) {
    throw ownError(error);
  }
}

function takeEvent(event: Event, clock: () => number, newId: () => string): EventSnapshot {
  const { id: givenId, timestamp: givenTime } = event as { id?: unknown; timestamp?: unknown };
  const id = validId(givenId === undefined || givenId === '' ? newId() : givenId);
  const timestamp = validTimestamp(givenTime === undefined ? Math.floor(clock()) : givenTime);

  const givenActions = event.actions as EventActions | undefined;
  const taken = takeDelta(givenActions?.stateDelta, "The event's actions.stateDelta");
  const { text: deltaText, hasObjects, temp } = taken;
  const actions = fieldsOf(givenActions ?? createEventActions(), 'actions');
  const copy = fieldsOf(event, '');
  // In the order in which they are set on the caller's event, where they are not own members of it.
  defineMember(copy, 'id', id);
  defineMember(copy, 'timestamp', timestamp);
  defineMember(copy, 'actions', actions);
  const text = eventText(copy, deltaText);

  // Inherited ones become the event's own: else they would stand before `actions` in this text, and
  // after them in that of a retry.
  if (givenId !== id || !Object.hasOwn(event, 'id')) fill(event, 'id', id);
  if (givenTime === undefined || !Object.hasOwn(event, 'timestamp')) {
    fill(event, 'timestamp', timestamp);
  }
  const given = hasObjects ? taken.delta : undefined;
  const delta = hasObjects ? (JSON.parse(deltaText) as Record<string, unknown>) : taken.delta;
  defineMember(actions, 'stateDelta', delta);
  return { id, timestamp, text, deltaText, delta, given, temp, actions };
}

/**
 * The members of `value` in a new object, or of what its `toJSON` gives. The copy has no toJSON that
 * could be called again.
 */
function fieldsOf<T extends object>(value: T, key: string): T {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function') return { ...value };
  const fields: unknown = Reflect.apply(toJSON, value, [key]);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw invalid(`toJSON of the event${key && `'s ${key}`} must give an object.`);
  }
  // Without prototype, since toJSON may be somebody's patch of Object.prototype.
  const copy = Object.assign(Object.create(null) as T & { toJSON?: unknown }, fields);
  delete copy.toJSON;
  return copy;
}

/**
 * How the end of `"stateDelta":0` is printed, which stands for the delta until its own text is put
 * there. Only the end, as a search for what begins with a quote stops at each one (200 ns).
 */
const MARK = 'Delta":0';

/**
 * The text of `copy` with `delta`, text already, as its `actions.stateDelta`.
 *
 * Putting text into text makes them equal even if a getter gives something else each time, and takes
 * no longer than printing the delta with the event. The mark cannot be within a string, where quotes
 * are escaped; another member's name and value may give the same, and then there are two.
 */
function eventText(copy: Event, delta: string): string {
  defineMember(copy.actions, 'stateDelta', 0);
  const verdict = checkEvent(copy);
  if (verdict === 'too large') throw unserializable([], tooLarge);
  if (verdict === 'plain') {
    const text = nativeText(copy);
    const at = text.indexOf(MARK);
    const value = at + MARK.length - 1;
    if (at >= 0 && !text.includes(MARK, value)) {
      return text.slice(0, value) + delta + text.slice(value + 1);
    }
  }
  const raw = { holder: copy.actions, key: 'stateDelta', text: delta };
  return writeJson(copy, { rules: 'event', raw }) ?? '';
}

function nativeText(copy: Event): string {
  try {
    return replaceLoneSurrogates(JSON.stringify(copy));
  } catch {
    // A getter answered otherwise than a moment ago, or the text is too long: the writer tells.
    return '';
  }
}

/**
 * Puts on the caller's event what was stored: its `actions` if it had none, and a delta without
 * `temp:` keys. For after the commit; the event was checked by {@link requireWritableEvent} before.
 *
 * The actions object stays the same, so that whoever holds it sees what happened; the caller's delta
 * object is only replaced there, never changed, since contexts go on writing to it.
 *
 * @example
 * ```ts
 * import { createEvent } from 'adk-session-wasm';
 *
 * const event = createEvent({ actions: { stateDelta: { a: 1, 'temp:b': 2 } } });
 * applySnapshot(event, snapshotEvent(event, Date.now, () => 'e1'));
 * event.actions.stateDelta; // { a: 1 }
 * ```
 */
export function applySnapshot(event: Event, snapshot: EventSnapshot): void {
  const actions = event.actions as EventActions | undefined;
  if (actions === undefined) {
    fill(event, 'actions', snapshot.actions);
  } else {
    fill(actions, 'stateDelta', snapshot.delta);
  }
}

/**
 * Makes sure that what an append sets on the event can be set: `id` and `timestamp` where they are
 * missing, `actions` if there are none, else their `stateDelta`. Changes nothing.
 *
 * @throws SessionError `invalid_argument` if not, and if it is no object or its `actions` are none
 *
 * @example
 * ```ts
 * import { createEvent } from 'adk-session-wasm';
 *
 * requireWritableEvent(Object.freeze(createEvent())); // fine: only actions.stateDelta is replaced
 * requireWritableEvent(Object.freeze({ ...createEvent(), id: '' })); // throws
 * ```
 */
export function requireWritableEvent(event: Event): void {
  try {
    checkWritable(event);
  } catch (error) {
    throw ownError(error);
  }
}

function checkWritable(given: unknown): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(`The event must be an object; it is ${kindOf(given)}.`);
  }
  const fields = given as { id?: unknown; timestamp?: unknown; actions?: unknown };
  if (fields.id === undefined || fields.id === '' || !Object.hasOwn(given, 'id')) {
    requireSettable(given, 'id', 'event');
  }
  if (fields.timestamp === undefined || !Object.hasOwn(given, 'timestamp')) {
    requireSettable(given, 'timestamp', 'event');
  }
  const { actions } = fields;
  if (actions === undefined) {
    requireSettable(given, 'actions', 'event');
  } else if (typeof actions !== 'object' || actions === null || Array.isArray(actions)) {
    throw invalid(`The event's actions must be an object; they are ${kindOf(actions)}.`);
  } else {
    requireSettable(actions, 'stateDelta', 'event.actions');
  }
}

/**
 * Sets a member that {@link requireSettable} has looked at. An inherited one is not assigned to: it
 * may be a getter, and an own member is what a copy of the event takes along.
 *
 * Neither way throws: what was committed must not fail because the caller froze the
 * event meanwhile.
 */
function fill(target: object, key: string, value: unknown): void {
  if (Object.hasOwn(target, key)) {
    setMember(target, key, value);
    return;
  }
  const ordinary = { enumerable: true, configurable: true, writable: true };
  Reflect.defineProperty(target, key, { ...ordinary, value });
}

function requireSettable(target: object, key: string, what: string): void {
  const own = Object.getOwnPropertyDescriptor(target, key);
  const settable =
    own === undefined
      ? Object.isExtensible(target)
      : own.writable === true || own.set !== undefined;
  if (settable) return;
  throw invalid(
    `${what}.${key} must be set, and cannot be: the object is frozen or the member read-only. ` +
      'Append a copy: {...event, actions: {...event.actions}}.',
    undefined,
    key,
  );
}

function validId(id: unknown): string {
  if (typeof id !== 'string') {
    throw invalid(`The event's id must be a string; it is ${kindOf(id)}.`, undefined, 'id');
  }
  if (id === '' || !isWellFormed(id) || !fitsUtf8(id, MAX_ID_BYTES)) {
    const message = `The event's id must be well-formed text of 1 to ${MAX_ID_BYTES} bytes of UTF-8.`;
    throw invalid(message, undefined, 'id');
  }
  return id;
}

function validTimestamp(timestamp: unknown): number {
  if (!isTime(timestamp)) {
    const shown = typeof timestamp === 'number' ? String(timestamp) : kindOf(timestamp);
    throw invalid(
      `The event's timestamp must be milliseconds since 1970, 0 to ${MAX_TIMESTAMP}; it is ${shown}.`,
      undefined,
      'timestamp',
    );
  }
  // −0 is JSON's 0.
  return timestamp + 0;
}

function invalid(message: string, cause?: unknown, key?: string): SessionError {
  return new SessionError('invalid_argument', message, { cause, key });
}

/** What the event's own getters or proxy handlers throw becomes an error of ours. */
function ownError(error: unknown): SessionError {
  if (isSessionError(error)) return error;
  if (isTooLong(error)) return tooLong(undefined, error);
  return invalid('The event cannot be read: its own code threw.', error);
}
