import { describeValue } from './describe.js';
import { SessionError } from './errors.js';

/**
 * Returns an `invalid_argument` error. Its message is a sentence that begins with the key.
 *
 * @param cause what the caller's own code threw, if it did
 */
export function invalid(key: string, rule: string, cause?: unknown): SessionError {
  return new SessionError('invalid_argument', `${key} ${rule}.`, { key, cause });
}

/** Returns an `invalid_argument` error whose message also says what was given; see {@link describeValue}. */
export function invalidValue(key: string, rule: string, value: unknown): SessionError {
  return invalid(key, `${rule}; it is ${describeValue(value)}`);
}
