import { invalidValue } from '../errors/invalid.js';
import { ID_RULE, isId, isTime, TIME_RULE } from './event/snapshot.js';

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

/** Returns a number, or `undefined` if it is absent or null. Rust checks its range. */
export function optionalNumber(argument: string, value: unknown): number | undefined {
  return optional(argument, value, isNumber, 'must be a number');
}

/** Returns a flag, or `undefined` if it is absent or null. */
export function optionalBoolean(argument: string, value: unknown): boolean | undefined {
  return optional(argument, value, isBoolean, 'must be true or false');
}

/** Returns a count or a revision, or `undefined` if it is absent or null. */
export function optionalCount(argument: string, value: unknown): number | undefined {
  return optional(argument, value, isCount, 'must be a whole number from 0');
}

/** Returns a time, or `undefined` if it is absent or null. */
export function optionalTime(argument: string, value: unknown): number | undefined {
  return optional(argument, value, isTime, TIME_RULE);
}

/** @throws SessionError `invalid_argument` naming `argument`, if it is given and not as the rule has it */
function optional<T>(
  argument: string,
  value: unknown,
  isValid: (value: unknown) => value is T,
  rule: string,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  if (isValid(value)) return value;
  throw invalidValue(argument, rule, value);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
