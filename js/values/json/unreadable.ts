import { isSessionError, SessionError } from '../errors/errors.js';
import { invalid } from '../errors/invalid.js';

/**
 * Returns the error for what was thrown while a value of the caller was read: by us, by the JavaScript engine, or by
 * the value's own getters and proxy handlers.
 */
export function unreadable(key: string, thrown: unknown): SessionError {
  if (isSessionError(thrown)) return thrown;
  if (isTooLong(thrown)) return tooLongError(undefined, thrown);
  return invalid(key, 'cannot be read: its own code threw', thrown);
}

/** The error for a text that is too long. `units` is its length in UTF-16 code units, if known. */
export function tooLongError(units?: number, cause?: unknown): SessionError {
  const size = units === undefined ? 'A text' : `A text of ${Math.ceil(units / 2 ** 20)} MB`;
  return new SessionError(
    'quota_exceeded',
    `${size} does not fit into memory. Store large data elsewhere and its address here, or delete sessions.`,
    { cause },
  );
}

/** Returns whether the JavaScript engine threw because a text would exceed its maximum length. */
export function isTooLong(thrown: unknown): boolean {
  try {
    if (!(thrown instanceof Error)) return false;
    const isEngineError = thrown instanceof RangeError || thrown.name === 'InternalError';
    // The messages of Chromium and Node, of WebKit, and of Firefox.
    return isEngineError && /string length|out of memory|allocation size/i.test(thrown.message);
  } catch {
    // The caller's own code threw an object that throws when it is read.
    return false;
  }
}
