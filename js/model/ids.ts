import { invalidValue } from '../errors/invalid.js';
import { fitsUtf8, isWellFormed } from '../json/text.js';
import { ID_RULE, MAX_ID_BYTES, MAX_TIMESTAMP, TIME_RULE } from './event/snapshot.js';

/** Returns whether `id` is a valid id of an app, a user or a session. */
export function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && isWellFormed(id) && fitsUtf8(id, MAX_ID_BYTES);
}

/** @throws SessionError `invalid_argument` naming `argument`, if `id` is not a valid id */
export function requireId(argument: string, id: unknown): string {
  if (isId(id)) return id;
  throw invalidValue(argument, ID_RULE, id);
}

/** @throws SessionError `invalid_argument` naming the id of the app or the user that is not valid */
export function requireUser({ appName, userId }: { appName: unknown; userId: unknown }): void {
  requireId('appName', appName);
  requireId('userId', userId);
}

/** Does the same for the owner of a shared state: a user, or without `userId` the app. */
export function requireOwner({ appName, userId }: { appName: unknown; userId?: unknown }): void {
  requireId('appName', appName);
  if (userId !== undefined) requireId('userId', userId);
}

/**
 * Returns a number, or `undefined` if it is absent or null. Rust checks its range.
 *
 * @throws SessionError `invalid_argument` naming `argument`, if it is anything else
 */
export function optionalNumber(argument: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return value;
  throw invalidValue(argument, 'must be a number', value);
}

/**
 * Returns a flag, or `undefined` if it is absent or null.
 *
 * @throws SessionError `invalid_argument` naming `argument`, if it is anything else
 */
export function optionalBoolean(argument: string, value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw invalidValue(argument, 'must be a boolean', value);
}

/**
 * Returns a count or a revision, or `undefined` if it is absent or null.
 *
 * @throws SessionError `invalid_argument` naming `argument`, if it is anything else
 */
export function optionalCount(argument: string, value: unknown): number | undefined {
  const count = optionalNumber(argument, value);
  if (count === undefined || (Number.isSafeInteger(count) && count >= 0)) return count;
  throw invalidValue(argument, 'must be a whole number from 0', count);
}

/**
 * Returns a time, or `undefined` if it is absent or null.
 *
 * @throws SessionError `invalid_argument` naming `argument`, if it is anything else
 */
export function optionalTime(argument: string, value: unknown): number | undefined {
  const time = optionalNumber(argument, value);
  if (time === undefined || (time >= 0 && time <= MAX_TIMESTAMP)) return time;
  throw invalidValue(argument, TIME_RULE, time);
}
