/**
 * The two sets of rules by which values become JSON.
 *
 * - **state**: refuses values that JSON cannot represent, so that a state value reads back as it
 *   was written.
 * - **event**: follows `JSON.stringify`, which the model's request applies to an event; refuses
 *   only BigInt and cycles.
 *
 * Both limit the depth, because databases and parsers do, each at another level. Both limit the
 * number of values, see {@link MAX_VALUES}.
 */
import { SessionError } from '../errors/errors.js';

/** An object of JSON values, as `JSON.parse` returns it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The most levels of objects and arrays in one state value. `[[]]` has two, a number none. */
export const MAX_STATE_LEVELS = 200;

/** The most levels of objects and arrays in one event. The event itself is the first level. */
export const MAX_EVENT_LEVELS = 250;

/**
 * The most members and elements in one event or state value, each counted as often as it would be
 * printed.
 *
 * An object that is referenced twice is printed twice. So thirty small objects, each with two
 * references to the next, make a gigabyte of text. `new Array(2 ** 32 - 1)` would print `null` four
 * billion times. Refusing all shared references would refuse ordinary values, and counting distinct
 * objects would accept both examples.
 *
 * Five million numbers are at least 10 MB of text, more than anyone keeps in one event. The check
 * finds the excess in a tenth of a second, and the writer in one second.
 */
export const MAX_VALUES = 5_000_000;

/** The most characters of a path in a message. The error's `path` is complete. */
const MAX_SHOWN_PATH = 200;

/** Returns whether `value` is an object or an array, of any kind. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns whether `value` is an ordinary object: its prototype is null, or a prototype whose own
 * prototype is null. Comparing with `Object.prototype` alone would refuse objects of another realm.
 *
 * @throws whatever a proxy's handler throws
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === Object.prototype ||
    prototype === null ||
    Object.getPrototypeOf(prototype) === null
  );
}

/**
 * Makes the error for a value that cannot become JSON.
 *
 * @param path the place of the value, from the state or the event inwards
 * @param problem the rest of a sentence that begins with the path: `is a BigInt; …`
 */
export function unserializable(
  path: readonly PathSegment[],
  problem: string,
  cause?: unknown,
): SessionError {
  const fullPath = formatPath(path);
  const shownPath =
    fullPath.length > MAX_SHOWN_PATH ? `${fullPath.slice(0, MAX_SHOWN_PATH)}…` : fullPath;
  const message = `${shownPath === '' ? 'The value' : shownPath} ${problem}.`;
  return new SessionError('unserializable', message, { path: fullPath, cause });
}

/** One step into a value: a member's key or an element's index. */
export type PathSegment = string | number;

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/**
 * Formats a path as JavaScript would write it: `cart.items[3].price`, `["user:cart"].total`.
 *
 * @param segments from the outermost inwards
 * @returns `''` for the value itself
 */
export function formatPath(segments: readonly PathSegment[]): string {
  const pieces: string[] = [];
  for (const segment of segments) {
    if (typeof segment === 'number') pieces.push(`[${segment}]`);
    else if (!IDENTIFIER.test(segment)) pieces.push(`[${JSON.stringify(segment)}]`);
    else pieces.push(pieces.length === 0 ? segment : `.${segment}`);
  }
  return pieces.join('');
}
