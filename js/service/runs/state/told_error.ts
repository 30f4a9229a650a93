import type { RunReport } from '../../../core/run_report.js';
import {
  SESSION_ERROR_CODES,
  type SessionError,
  sessionErrorOf,
} from '../../../values/errors/errors.js';

/** Makes the error of a run that failed in another tab or on a server, from what that has told of it. */
export function toldError(told: RunReport['error']): SessionError {
  const { code, message = 'The agent failed.' } = told ?? {};
  const known = SESSION_ERROR_CODES.find((known) => known === code) ?? 'run_failed';
  return sessionErrorOf(known, message);
}
