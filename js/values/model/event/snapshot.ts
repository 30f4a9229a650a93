/**
 * Snapshots of a caller's events and states, taken at the call: JSON text, made once, and the
 * values that the handle gets. Later changes of the caller's objects never reach storage.
 *
 * Nothing here stores anything or touches a handle. A snapshot changes the caller's event only by
 * setting a missing `id` and `timestamp`, and the content that a text stands for. {@link applySnapshot} does the rest
 * after the commit.
 */
import { invalid } from '../../errors/invalid.js';
import { requireObject } from '../../errors/option_values.js';
import { createEventActions } from './create_event.js';
import type { Event, EventActions } from './event.js';
import { takeContent } from './parts.js';
import { tellsWhatWaits } from './waiting.js';
import { requireId } from '../values/ids.js';
import { requireTime } from '../values/time.js';
import { unreadable } from '../../json/unreadable.js';
import { checkEvent } from '../../json/check.js';
import { snapshotDelta } from '../../state/delta.js';
import { REMOVED } from '../../state/scope.js';
import type { StateShape } from '../../state/state_shape.js';
import { defineMember, unbox } from '../../members.js';
import { isObject, unserializable } from '../../json/rules.js';
import { replaceLoneSurrogates } from '../../json/text.js';
import { tooLargeProblem, writeJson } from '../../json/write.js';

/** An event as it is stored: texts, and no object of the caller. */
export interface EventTexts {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /**
   * JSON text of the stored event, without `temp:` keys, with removals as `REMOVED`, and with id,
   * timestamp and actions filled in. The marker of a rewind has `null` for a removal, as in Python.
   * The same event always gives the same text, byte for byte, whether or not its append has
   * succeeded before.
   */
  readonly text: string;
  /**
   * `text` before superseded keys were taken out of its delta; absent if none were. A stored event
   * with this text is the same event.
   */
  readonly whole?: string;
  /**
   * Whether it may be a marker: it has a member of rewinds or compactions, or tells what waits. See
   * `markers.ts`.
   */
  readonly mayBeMarker: boolean;
  /** JSON text of what the event changes in the state. */
  readonly deltaText: string;
}

/** A snapshot of an event: what is stored, and what the caller's objects get after that. */
export interface EventSnapshot extends EventTexts {
  /** The event's invocation; `''` if it has none. */
  readonly invocationId: string;
  /** The object of `deltaText`. It is new and shares nothing with the caller's. */
  readonly delta: Record<string, unknown>;
  /**
   * The delta with the caller's own objects, see {@link DeltaSnapshot.delta}; absent if it has no
   * objects.
   */
  readonly callerDelta: Record<string, unknown> | undefined;
  /** See {@link DeltaSnapshot.temp}. */
  readonly temp: Record<string, unknown> | undefined;
  /** A new object: the event's actions, or empty ones, with the `stateDelta` of `text`. */
  readonly actions: EventActions;
}

/**
 * Takes a snapshot of an event.
 *
 * If the event has no `id` (absent or empty) or no `timestamp`, they are set on it now, and so is the content in place
 * of a text. A retry is then the same event. Otherwise the event is not changed. If this throws `invalid_argument` or
 * `unserializable`, nothing was changed.
 *
 * @param clock returns the time in milliseconds since 1970; fractions are cut off
 * @param newId returns a fresh id
 * @throws SessionError `invalid_argument` if the event is not an object, its id or timestamp is
 *   invalid, its `actions` or its `content` are not an object, its `stateDelta` is not a plain object, or the event
 *   cannot be changed afterwards; `unserializable` with `path`, counted from the event, or from the
 *   delta for state values
 */
export function snapshotEvent(
  event: Event,
  clock: () => number,
  newId: () => string,
): EventSnapshot {
  try {
    checkWritable(event);
    return makeEventSnapshot(event, clock, newId);
  } catch (error) {
    throw unreadable('event', error);
  }
}

function makeEventSnapshot(event: Event, clock: () => number, newId: () => string): EventSnapshot {
  const { id: givenId, timestamp: givenTime } = event as { id?: unknown; timestamp?: unknown };
  const id = requireId('event.id', givenId === undefined || givenId === '' ? newId() : givenId);
  const timestamp = requireTime(
    'event.timestamp',
    givenTime === undefined ? Math.floor(clock()) : givenTime,
  );

  const givenActions = event.actions as EventActions | undefined;
  const deltaSnapshot = snapshotDelta(givenActions?.stateDelta, 'event.actions.stateDelta');
  const { text: deltaText, hasObjects, temp } = deltaSnapshot;
  const actions = {
    ...fieldsOf(givenActions ?? createEventActions(), 'actions'),
    stateDelta: PLACEHOLDER as unknown as StateShape,
  };
  // In the order in which they are set on the caller's event if they are not its own members.
  const copy = { ...fieldsOf(event, ''), id, timestamp, actions };
  const { author, content: given } = copy as { author?: unknown; content?: unknown };
  const content = printedBy(given, 'content');
  if (content !== undefined && content !== null) copy.content = takeContent(content, author);
  else if (content !== given) defineMember(copy, 'content', content);
  const isRemoving = isRewind(actions) && Object.values(deltaSnapshot.delta).includes(REMOVED);
  const storedText = isRemoving ? withNulls(deltaText) : deltaText;
  const text = eventText(copy, storedText);

  // Inherited members become own members of the event. Otherwise they would stand before `actions`
  // in this text, but after them in the text of a retry.
  if (givenId !== id || !Object.hasOwn(event, 'id')) defineMember(event, 'id', id);
  if (givenTime === undefined || !Object.hasOwn(event, 'timestamp')) {
    defineMember(event, 'timestamp', timestamp);
  }
  if (typeof given === 'string') defineMember(event, 'content', copy.content);
  const callerDelta = hasObjects ? deltaSnapshot.delta : undefined;
  const delta = hasObjects
    ? (JSON.parse(deltaText) as Record<string, unknown>)
    : deltaSnapshot.delta;
  actions.stateDelta = isRemoving ? (JSON.parse(storedText) as StateShape) : delta;
  const isPossibleMarker = mayBeMarker(copy, actions);
  const { invocationId } = copy as { invocationId?: unknown };
  return {
    id,
    invocationId: typeof invocationId === 'string' ? invocationId : '',
    timestamp,
    text,
    mayBeMarker: isPossibleMarker,
    deltaText,
    delta,
    callerDelta,
    temp,
    actions,
  };
}

export function isRewind(actions: object): boolean {
  const { rewindBeforeInvocationId } = actions as { rewindBeforeInvocationId?: unknown };
  return typeof rewindBeforeInvocationId === 'string' && rewindBeforeInvocationId !== '';
}

/**
 * Returns the text of a delta as the marker of a rewind has it: Python's marker sets a key to `null` that did not
 * exist.
 */
function withNulls(deltaText: string): string {
  const delta = JSON.parse(deltaText) as Record<string, unknown>;
  for (const [key, value] of Object.entries(delta)) {
    if (value === REMOVED) defineMember(delta, key, null);
  }
  return JSON.stringify(delta);
}

function mayBeMarker(event: Event, actions: object): boolean {
  const hasMember =
    'rewindBeforeInvocationId' in actions || 'compaction' in actions || 'isCompacted' in event;
  return hasMember || tellsWhatWaits(event);
}

/** Returns the object that has the members of `value`: see {@link printedBy}. */
function fieldsOf<T extends object>(value: T, key: string): T {
  const fields = printedBy(value, key);
  if (fields !== value) requireObject(`event${key && `.${key}`}.toJSON()`, fields);
  return fields as T;
}

/**
 * Returns what JSON prints for a value: itself, or the result of its `toJSON`. An object is copied without its own
 * `toJSON`, which would be called again.
 */
function printedBy(value: unknown, key: string): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown };
  if (typeof value !== 'object' || typeof toJSON !== 'function') return value;
  const result: unknown = Reflect.apply(toJSON, value, [key]);
  if (!isObject(result) || Array.isArray(result) || unbox(result) !== result) return result;
  const copy = { ...result };
  delete copy.toJSON;
  return copy;
}

const PLACEHOLDER = 0;
/**
 * The end of `"stateDelta":0`, the placeholder in the text that the delta's own text replaces. Only
 * the end, because a search for text that begins with a quote stops at each quote (200 ns).
 */
const PLACEHOLDER_END = 'Delta":0';

/**
 * Returns the text of `copy`, whose `actions.stateDelta` is the placeholder, with the text `delta` in its place.
 *
 * Inserting the text keeps both texts equal, even if a getter returns another value each time. It
 * takes no longer than printing the delta with the event. The mark cannot occur within a string,
 * because quotes are escaped there. Another member may print the same characters; the mark then
 * occurs twice, and the writer is used.
 */
function eventText(copy: Event, delta: string): string {
  const verdict = checkEvent(copy);
  if (verdict === 'too large') throw unserializable([], tooLargeProblem);
  if (verdict === 'plain') {
    const text = nativeText(copy);
    const position = text.indexOf(PLACEHOLDER_END);
    const value = position + PLACEHOLDER_END.length - 1;
    if (position >= 0 && !text.includes(PLACEHOLDER_END, value)) {
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
    // A getter returned another value than before, or the text is too long. The writer reports the
    // error.
    return '';
  }
}

/**
 * Sets what was stored on the caller's event: its `actions` if it had none, and a delta without
 * `temp:` keys. Call it after the commit; {@link snapshotEvent} has checked that the members can be
 * set.
 *
 * The actions object stays the same, so that others who hold it see the change. The caller's delta
 * object is replaced there and never changed, because contexts go on writing to it.
 */
export function applySnapshot(event: Event, snapshot: EventSnapshot): void {
  const actions = event.actions as EventActions | undefined;
  if (actions === undefined) {
    defineMember(event, 'actions', snapshot.actions);
  } else {
    defineMember(actions, 'stateDelta', snapshot.actions.stateDelta);
  }
}

/**
 * Checks that an append can set its members on the event: a missing `id` and `timestamp`, and
 * `actions` or their `stateDelta`. Changes nothing.
 *
 * @throws SessionError `invalid_argument` if a member cannot be set, or if the event or its
 *   `actions` are not objects
 */
function checkWritable(given: unknown): void {
  requireObject('event', given);
  const fields = given as Partial<Record<keyof Event, unknown>>;
  if (fields.id === undefined || fields.id === '' || !Object.hasOwn(given, 'id')) {
    requireSettable(given, 'id', 'event');
  }
  if (fields.timestamp === undefined || !Object.hasOwn(given, 'timestamp')) {
    requireSettable(given, 'timestamp', 'event');
  }
  if (typeof fields.content === 'string') requireSettable(given, 'content', 'event');
  const { actions } = fields;
  if (actions === undefined) {
    requireSettable(given, 'actions', 'event');
  } else {
    requireObject('event.actions', actions);
    requireSettable(actions, 'stateDelta', 'event.actions');
  }
}

function requireSettable(target: object, key: string, owner: string): void {
  const own = Object.getOwnPropertyDescriptor(target, key);
  const isSettable =
    own === undefined
      ? Object.isExtensible(target)
      : own.writable === true || own.set !== undefined;
  if (isSettable) return;
  throw invalid(
    `${owner}.${key}`,
    'cannot be set: the object is frozen or the member read-only. ' +
      'Append a copy: {...event, actions: {...event.actions}}',
  );
}
