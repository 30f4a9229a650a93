/**
 * The two sets of rules by which values become JSON.
 *
 * - **state**: what JSON cannot say is refused, since a state value that is read back must be what
 *   was written.
 * - **event**: what `JSON.stringify` does, since that is what the model's request does to an event;
 *   only BigInt and cycles are refused.
 *
 * Both have a limit on depth, because databases and parsers have one, each its own; and one on the
 * number of values, see {@link MAX_VALUES}.
 */
import { SessionError } from '../errors/errors.js';
import { formatPath, type PathSegment } from './path.js';

/** Levels of objects and arrays in one state value; `[[]]` has two, a number none. */
export const MAX_STATE_LEVELS = 200;

/** Levels of objects and arrays in one event, the event itself being the first. */
export const MAX_EVENT_LEVELS = 250;

/**
 * Members and elements in one event or state value, each counted as often as it would be printed.
 *
 * An object that is referred to twice is printed twice, so thirty small objects, each referring
 * twice to the next, make text of a gigabyte; and `new Array(2 ** 32 - 1)` asks for four billion
 * times `null`. Refusing all shared references instead would refuse ordinary values; counting
 * distinct objects would let both through. Five million numbers are 10 MB of text at the least:
 * beyond what anyone keeps in one event, and found in a tenth of a second, or one for the writer.
 */
export const MAX_VALUES = 5_000_000;

/** Messages show no more of a path than this; the error's `path` is whole. */
const SHOWN_PATH = 200;

/**
 * Whether `value` is an ordinary object: its prototype is null, or one whose own prototype is null.
 * The latter and not `=== Object.prototype`, so that objects of another realm count.
 *
 * @throws what a proxy's handler throws
 *
 * @example
 * ```ts
 * isPlainObject({}); // true
 * isPlainObject(new Map()); // false
 * ```
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === Object.prototype ||
    prototype === null ||
    Object.getPrototypeOf(prototype) === null
  );
}

/** What a thing calls itself, for messages. Never throws. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'bigint') return 'a BigInt';
  if (typeof value !== 'object') return `a ${typeof value}`;
  try {
    if (Array.isArray(value)) return 'an array';
    const maker: unknown = (value as { constructor?: unknown }).constructor;
    const name = typeof maker === 'function' ? maker.name : '';
    // Class names are short; something else may stand there.
    return /^[\p{ID_Continue}$]{1,64}$/u.test(name) ? `an instance of ${name}` : 'a class instance';
  } catch {
    return 'an object that cannot be looked at';
  }
}

/** The message of what was thrown, or what kind of thing was thrown. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message);
  } catch {
    // A revoked proxy, or a getter that throws.
  }
  return kindOf(thrown);
}

/**
 * The error for a value that cannot become JSON.
 *
 * @param path where it stands, from the state or the event inwards
 * @param problem the rest of a sentence that begins with the path: `is a BigInt; …`
 *
 * @example
 * ```ts
 * throw unserializable(['cart', 'total'], 'is a BigInt; store it as a string');
 * ```
 */
export function unserializable(
  path: readonly PathSegment[],
  problem: string,
  cause?: unknown,
): SessionError {
  const whole = formatPath(path);
  const shown = whole.length > SHOWN_PATH ? `${whole.slice(0, SHOWN_PATH)}…` : whole;
  const message = `${shown === '' ? 'The value' : shown} ${problem}.`;
  return new SessionError('unserializable', message, { path: whole, cause });
}
