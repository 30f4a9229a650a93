/** Checks the values of options. Each check fails with `invalid_argument` that names the option. */
import { isPromise, unbox } from '../members.js';
import { invalidValue } from './invalid.js';

/** The longest delay of a timer. A longer one would fire at once. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The longest time of a timer, and more than any number of events or bytes that fit. */
const MAX_WHOLE = MAX_TIMEOUT_MS;

/** Returns the value, which must be one of the words. */
export function requireOneOf<const Word extends string>(
  key: string,
  value: unknown,
  words: readonly [Word, ...Word[]],
): Word {
  const word = words.find((word) => word === value);
  if (word !== undefined) return word;
  const quoted = words.map((word) => `'${word}'`);
  const last = quoted.pop();
  throw invalidValue(key, `must be ${quoted.join(', ')} or ${last}`, value);
}

export function requireBoolean(key: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw invalidValue(key, 'must be true or false', value);
}

export function requireText(key: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw invalidValue(key, 'must be a string', value);
}

/**
 * Requires an object that is no array, no boxed primitive, which JSON prints as its primitive, and no promise: one
 * without `await` has no members.
 */
export function requireObject(key: string, value: unknown): asserts value is object {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || isPromise(value) || unbox(value) !== value) {
    throw invalidValue(key, 'must be an object', value);
  }
}

export function requireFunction(key: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidValue(key, 'must be a function', value);
}

/** Requires an `AbortSignal` of any realm, or `undefined`. */
export function requireSignal(key: string, value: unknown): void {
  if (value !== undefined && !isSignal(value)) {
    throw invalidValue(key, 'must be an AbortSignal', value);
  }
}

function isSignal(value: unknown): boolean {
  try {
    const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>;
    return typeof aborted === 'boolean' && typeof addEventListener === 'function';
  } catch {
    // A revoked proxy, or a getter that throws.
    return false;
  }
}

/** Returns the value, which must be a whole number. */
export function requireWhole(key: string, value: number, least = 1, most = MAX_WHOLE): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  const end = most === Infinity ? '' : ` to ${most}`;
  throw invalidValue(key, `must be a whole number from ${least}${end}`, value);
}

/** Returns the value, which must be a number of milliseconds. */
export function requireMilliseconds(
  key: string,
  value: unknown,
  least = 1,
  most = MAX_TIMEOUT_MS,
): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw invalidValue(key, `must be milliseconds from ${least} to ${most}`, value);
}

/** Returns a number, or `undefined` if it is absent or null. NaN is refused. */
export function optionalNumber(key: string, value: unknown): number | undefined {
  return optionalValue(key, value, isNumberValue, 'must be a number');
}

/** Returns a flag, or `undefined` if it is absent or null. */
export function optionalBoolean(key: string, value: unknown): boolean | undefined {
  return optionalValue(key, value, isBoolean, 'must be true or false');
}

/** Returns a count or a revision, or `undefined` if it is absent or null. */
export function optionalCount(key: string, value: unknown, least = 0): number | undefined {
  const isValid = (value: unknown): value is number => isCount(value) && value >= least;
  return optionalValue(key, value, isValid, `must be a whole number from ${least}`);
}

/** Returns a count or `'all'`, or `undefined` if it is absent or null. */
export function optionalCountOrAll(key: string, value: unknown): number | 'all' | undefined {
  const isValid = (value: unknown): value is number | 'all' => value === 'all' || isCount(value);
  return optionalValue(key, value, isValid, "must be a whole number from 0, or 'all'");
}

/** Returns the value, which must be as the rule has it, or `undefined` if it is absent or null. */
export function optionalValue<T>(
  key: string,
  value: unknown,
  isValid: (value: unknown) => value is T,
  rule: string,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  if (isValid(value)) return value;
  throw invalidValue(key, rule, value);
}

function isNumberValue(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(value);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
