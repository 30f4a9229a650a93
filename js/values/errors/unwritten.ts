import { isSessionError, type SessionError } from './errors.js';

/** The `connection_lost` errors of writes whose commit was not sent. */
const unwritten = new WeakSet<SessionError>();

/** Notes that nothing was written, although the connection was lost. */
export function markUnwritten(error: SessionError): void {
  unwritten.add(error);
}

/** Returns whether a write that failed with this error may be stored. */
export function mayBeWritten(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') && !unwritten.has(error);
}
