/** The errors that many calls make, with words for what was given. */
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

/** Returns the error for a session that does not exist. */
export function sessionNotFound(sessionId: unknown): SessionError {
  const message = `Session ${describeValue(sessionId)} does not exist (any more); create it, or get it again.`;
  return new SessionError('not_found', message);
}
