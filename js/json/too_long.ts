import { SessionError } from '../errors/errors.js';

/** What is refused because of its length in UTF-16 code units, where that is known. */
export function tooLong(units?: number, cause?: unknown): SessionError {
  const size = units === undefined ? 'A text' : `A text of ${Math.ceil(units / 2 ** 20)} MB`;
  return new SessionError(
    'quota_exceeded',
    `${size} does not fit into memory. Store large data elsewhere and its address here, or delete sessions.`,
    { cause },
  );
}

/** Whether the engine threw because a text would be longer than its longest. */
export function isTooLong(thrown: unknown): boolean {
  try {
    if (!(thrown instanceof Error)) return false;
    const isOfEngine = thrown instanceof RangeError || thrown.name === 'InternalError';
    // Chromium and Node; WebKit; Firefox.
    return isOfEngine && /string length|out of memory|allocation size/i.test(thrown.message);
  } catch {
    // The caller's own code threw something that throws when it is looked at.
    return false;
  }
}
