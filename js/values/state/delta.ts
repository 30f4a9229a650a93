/**
 * Converts a delta to JSON, key by key. The state rules for one value are in `rules.ts`; the rules
 * for the keys are here.
 */
import { kindOf } from '../errors/describe.js';
import { invalid } from '../errors/invalid.js';
import { checkState } from '../json/check.js';
import { unserializable, isPlainObject } from '../json/rules.js';
import { isWellFormed } from '../json/text.js';
import { tooLargeProblem, writeJson } from '../json/write.js';
import { defineMember } from '../members.js';
import { isTemp, REMOVED } from './scope.js';

// Values of a state as JSON: checked at a write, compared, and copied.

/**
 * Refuses a value that JSON cannot represent. Checked at the write, so that the stack shows the
 * line that writes it.
 *
 * @throws SessionError `unserializable`
 */
export function requireJson(key: string, value: unknown): void {
  if (!isTemp(key) && !isPlainEntry(key, value)) writeJson(value, { rules: 'state', path: [key] });
}

/**
 * Returns whether a key that is not `temp:` has a value that native `JSON.stringify` prints by the state rules,
 * or is removed. Else the writer prints the value, or tells what is wrong with it.
 *
 * @throws SessionError `unserializable` for the key, or for a value with too many members to print
 */
function isPlainEntry(key: string, value: unknown): boolean {
  if (!isWellFormed(key)) throw unserializable([key], 'is a key with half of a surrogate pair');
  const verdict = value === undefined ? 'plain' : checkState(value);
  if (verdict === 'too large') throw unserializable([key], tooLargeProblem);
  return verdict === 'plain';
}

/**
 * Returns the JSON text of an object by the state rules.
 *
 * @param path of the object, for errors
 * @throws SessionError `unserializable`
 */
export function stateText(object: object, path: readonly string[] = []): string | undefined {
  if (checkState(object) === 'plain') return JSON.stringify(object);
  return writeJson(object, { rules: 'state', path });
}

/** Returns the JSON text for comparing a value; `undefined` if JSON cannot represent it. */
export function jsonText(value: object): string | undefined {
  try {
    return stateText(value);
  } catch {
    return undefined;
  }
}

/**
 * Returns a copy of a JSON value. Returns anything else unchanged: it was written just now and not
 * refused yet.
 */
export function copyPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || checkState(value) !== 'plain') return value;
  return JSON.parse(JSON.stringify(value));
}

/** A snapshot of a delta as it is stored. */
export interface DeltaSnapshot {
  /** JSON text of the stored delta; `'{}'` if it is empty. */
  readonly text: string;
  /**
   * The stored delta as a new ordinary object in the caller's order. A plain value is the caller's
   * own; any other value was parsed from its JSON text. Removals are `REMOVED`.
   */
  readonly delta: Record<string, unknown>;
  /** Whether any value is an object, which may be shared with the caller. */
  readonly hasObjects: boolean;
  /**
   * The `temp:` keys with the caller's own values, never inspected; `undefined` if there are none.
   */
  readonly temp: Record<string, unknown> | undefined;
}

/**
 * Takes a snapshot of a delta, or of an initial state, which may also remove keys: `user:` and `app:` keys may
 * exist before the session does. `temp:` keys are set aside before anything looks at their values. All other keys
 * follow the state rules (see `json/rules.ts`). The caller's object is not changed.
 *
 * @param source a plain object, or `undefined` for an empty one. A top-level `undefined` or `REMOVED` removes a
 *   key. Every well-formed key is allowed, even the empty one.
 * @param name the name to use in errors
 * @throws SessionError `invalid_argument` if it is not a plain object, `unserializable` with `path`
 */
export function snapshotDelta(source: unknown, name = 'stateDelta'): DeltaSnapshot {
  const delta: Record<string, unknown> = {};
  if (source === undefined) return { text: '{}', delta, hasObjects: false, temp: undefined };
  let hasObjects = false;
  let temp: Record<string, unknown> | undefined;
  // The JSON texts of special values, by key. Made only if there is such a value.
  let jsonTexts: Map<string, string> | undefined;
  for (const key of plainObjectKeys(source, name)) {
    const value = readMember(source as Record<string, unknown>, key);
    if (isTemp(key)) {
      temp ??= {};
      defineMember(temp, key, value);
      continue;
    }
    let stored = value;
    let text: string | undefined;
    if (!isPlainEntry(key, value)) {
      text = writeJson(value, { rules: 'state', path: [key] });
      stored = text === undefined ? undefined : JSON.parse(text);
    }
    // A `toJSON` may return `undefined` or `REMOVED`.
    if (stored === undefined || stored === REMOVED) {
      defineMember(delta, key, REMOVED);
      continue;
    }
    if (typeof stored === 'object' && stored !== null) hasObjects = true;
    if (text !== undefined) (jsonTexts ??= new Map()).set(key, text);
    defineMember(delta, key, stored);
  }
  return { text: deltaText(delta, jsonTexts), delta, hasObjects, temp };
}

/** Returns the text of `delta`. `texts` holds the JSON texts of values that were written before. */
function deltaText(
  delta: Record<string, unknown>,
  jsonTexts: ReadonlyMap<string, string> | undefined,
): string {
  if (jsonTexts === undefined) {
    try {
      return JSON.stringify(delta);
    } catch {
      // A getter returned another value than before, or the text is too long. The writer reads
      // again and reports the error.
    }
  }
  const pieces: string[] = [];
  for (const key of Object.keys(delta)) {
    const text = jsonTexts?.get(key) ?? writeJson(delta[key], { rules: 'state', path: [key] });
    if (text !== undefined) pieces.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${pieces.join(',')}}`;
}

/**
 * Returns the own enumerable string keys of a plain object. Fails with `invalid_argument` for
 * anything else, even if reading the keys throws.
 */
export function plainObjectKeys(value: unknown, name: string): readonly string[] {
  let cause: unknown;
  try {
    if (isPlainObject(value)) return Object.keys(value);
  } catch (error) {
    cause = error;
  }
  const problem = cause === undefined ? `is ${kindOf(value)}` : 'cannot be read';
  throw invalid(name, `must be a plain object; it ${problem}`, cause);
}

/**
 * Returns the entries of a plain object, each read once.
 *
 * @throws SessionError as {@link plainObjectKeys}; `unserializable` if a getter throws
 */
export function plainObjectEntries(value: unknown, name: string): readonly [string, unknown][] {
  const keys = plainObjectKeys(value, name);
  return keys.map((key) => [key, readMember(value as Record<string, unknown>, key)]);
}

/** Reads one member of a delta. Getters and proxies may throw. */
function readMember(value: Record<string, unknown>, key: string): unknown {
  try {
    return value[key];
  } catch (error) {
    throw unserializable([key], 'cannot be read: its getter threw', error);
  }
}
