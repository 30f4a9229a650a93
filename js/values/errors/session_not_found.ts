import { describeValue } from './describe.js';
import { SessionError } from './errors.js';

/** Returns the error for a session that does not exist. */
export function sessionNotFound(sessionId: unknown): SessionError {
  const message = `Session ${describeValue(sessionId)} does not exist (any more); create it, or get it again.`;
  return new SessionError('not_found', message);
}
