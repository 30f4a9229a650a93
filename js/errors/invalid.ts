import { SessionError } from './errors.js';

/**
 * Returns an `invalid_argument` error. Its message is a sentence that begins with the key.
 *
 * @param cause what the caller's own code threw, if it did
 */
export function invalid(key: string, rule: string, cause?: unknown): SessionError {
  return new SessionError('invalid_argument', `${key} ${rule}.`, { key, cause });
}
