import { invalidValue } from '../../errors/invalid.js';
import { optionalValue } from '../../errors/option_values.js';

/** The latest time: the last millisecond of the year 9999, where the dates of databases end. */
export const MAX_TIMESTAMP = 253402300799999;

/** The rule of a time, for messages. */
export const TIME_RULE = `must be milliseconds since 1970, 0 to ${MAX_TIMESTAMP}`;

/** Returns whether `value` is a time: milliseconds since 1970, 0 to {@link MAX_TIMESTAMP}. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TIMESTAMP;
}

/** Returns a time, in which −0 is 0, as in JSON. */
export function requireTime(argument: string, value: unknown): number {
  if (!isTime(value)) throw invalidValue(argument, TIME_RULE, value);
  return value + 0;
}

/** Returns a time, or `undefined` if it is absent or null. */
export function optionalTime(argument: string, value: unknown): number | undefined {
  return optionalValue(argument, value, isTime, TIME_RULE);
}
