import { invalid } from '../errors/invalid.js';
import { isSessionError, type SessionError } from '../errors/errors.js';
import { isTooLong, tooLongError } from './too_long.js';

/**
 * Returns the error for what was thrown while a value of the caller was read: by us, by the JavaScript engine, or by
 * the value's own getters and proxy handlers.
 */
export function unreadable(key: string, thrown: unknown): SessionError {
  if (isSessionError(thrown)) return thrown;
  if (isTooLong(thrown)) return tooLongError(undefined, thrown);
  return invalid(key, 'cannot be read: its own code threw', thrown);
}
