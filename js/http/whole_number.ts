import { invalidValue } from '../errors/invalid.js';

/** The longest time of a timer, and more than any number of events or bytes that fit. */
const MAX_NUMBER = 2 ** 31 - 1;

/** @throws SessionError `invalid_argument` naming `key` */
export function requireWhole(key: string, value: number, least = 1): number {
  if (Number.isInteger(value) && value >= least && value <= MAX_NUMBER) return value;
  throw invalidValue(key, `must be a whole number from ${least} to ${MAX_NUMBER}`, value);
}
