/**
 * A delta's way into JSON: key by key, since each has its own fate. The state rules for one value are
 * in `rules.ts`; this is what holds for the map of them.
 */
import { SessionError } from '../errors/errors.js';
import { isTemp, REMOVED } from './scope.js';
import { checkState } from '../json/check.js';
import { defineMember } from '../members/member.js';
import { isPlainObject, kindOf, unserializable } from '../json/rules.js';
import { isWellFormed } from '../json/text.js';
import { tooLarge, writeJson } from '../json/write.js';

/**
 * A delta as it is stored.
 *
 * @example
 * ```ts
 * takeDelta({ a: 1, b: undefined, 'temp:c': () => 1 }, 'The delta').text;
 * // '{"a":1,"b":"__ADK_SENTINEL_REMOVED__"}'
 * ```
 */
export interface DeltaSnapshot {
  /** JSON text of the stored delta; `'{}'` if it is empty. */
  readonly text: string;
  /**
   * The stored delta as a new ordinary object in the caller's order: a value by reference if it was
   * plain as it is, else what parsing its text gives; removals as `REMOVED`.
   */
  readonly delta: Record<string, unknown>;
  /** Whether any of its values is an object, and so may be shared with the caller. */
  readonly hasObjects: boolean;
  /** The `temp:` keys, values by reference and never looked at; `undefined` if there are none. */
  readonly temp: Record<string, unknown> | undefined;
}

/**
 * Takes a delta, or an initial state.
 *
 * @param given a plain object, or `undefined` for an empty one
 * @param what how to call it in errors
 * @throws SessionError `invalid_argument` if it is no plain object, `unserializable` with `path`
 *
 * @example
 * ```ts
 * takeDelta({ a: 1, 'temp:b': 2 }, 'The state').text; // '{"a":1}'
 * ```
 */
export function takeDelta(given: unknown, what: string): DeltaSnapshot {
  const delta: Record<string, unknown> = {};
  if (given === undefined) return { text: '{}', delta, hasObjects: false, temp: undefined };
  let hasObjects = false;
  let temp: Record<string, unknown> | undefined;
  // Made only once a value is not plain: the text of each value so far.
  let texts: Map<string, string> | undefined;
  for (const key of keysOf(given, what)) {
    const value = member(given as Record<string, unknown>, key);
    if (isTemp(key)) {
      temp ??= {};
      defineMember(temp, key, value);
      continue;
    }
    if (!isWellFormed(key)) {
      throw unserializable([key], 'is a key with half of a surrogate pair');
    }
    const verdict = value === undefined ? 'plain' : checkState(value);
    if (verdict === 'too large') throw unserializable([key], tooLarge);
    let stored = value;
    let text: string | undefined;
    if (verdict === 'special') {
      text = writeJson(value, { rules: 'state', path: [key] });
      stored = text === undefined ? undefined : JSON.parse(text);
    }
    // A toJSON may come to nothing, too, or to a removal.
    if (stored === undefined || stored === REMOVED) {
      defineMember(delta, key, REMOVED);
      continue;
    }
    if (typeof stored === 'object' && stored !== null) hasObjects = true;
    if (text !== undefined) (texts ??= new Map()).set(key, text);
    defineMember(delta, key, stored);
  }
  return { text: deltaText(delta, texts), delta, hasObjects, temp };
}

/** The text of `delta`, of whose values `texts` has been written before. */
function deltaText(
  delta: Record<string, unknown>,
  texts: ReadonlyMap<string, string> | undefined,
): string {
  // A toJSON here is somebody's patch of Object.prototype, which the native function would obey.
  if (texts === undefined && typeof delta.toJSON !== 'function') {
    try {
      return JSON.stringify(delta);
    } catch {
      // A getter within answered otherwise than a moment ago, or the text is too long. The writer
      // reads again and says what is wrong.
    }
  }
  const pieces: string[] = [];
  for (const key of Object.keys(delta)) {
    const text = texts?.get(key) ?? writeJson(delta[key], { rules: 'state', path: [key] });
    if (text !== undefined) pieces.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${pieces.join(',')}}`;
}

/** The own enumerable string keys of a plain object, whatever it does about being asked. */
function keysOf(value: unknown, what: string): readonly string[] {
  let cause: unknown;
  try {
    if (isPlainObject(value)) return Object.keys(value);
  } catch (error) {
    cause = error;
  }
  const problem = cause === undefined ? `is ${kindOf(value)}` : 'cannot be looked at';
  const message = `${what} must be a plain object; it ${problem}.`;
  throw new SessionError('invalid_argument', message, { cause });
}

/** Reads one member of a delta; getters and proxies may throw. */
function member(value: Record<string, unknown>, key: string): unknown {
  try {
    return value[key];
  } catch (error) {
    throw unserializable([key], 'cannot be read: its getter threw', error);
  }
}
