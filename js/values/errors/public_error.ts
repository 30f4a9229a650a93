/** What strangers may know of an error: those who ask a server, other devices, and whoever reads a stored event. */
import { isSessionError, SessionError, type SessionErrorCode } from './errors.js';

/** The error of this package that an agent threw; with a message, the error that an event of the run reports. */
interface PublicCause {
  readonly code: string;
  readonly message?: string | undefined;
}

/** What is told of an error. */
export interface PublicError {
  readonly code: string;
  readonly message: string;
  /** See {@link PublicCause}. Absent for anything else that an agent threw. */
  readonly cause?: PublicCause | undefined;
}

/** The HTTP status of each code. `aborted` means here that the time limit of the request has passed. */
const STATUSES: Readonly<Record<SessionErrorCode, number>> = {
  invalid_argument: 400,
  unserializable: 400,
  schema_violation: 400,
  missing_variable: 400,
  readonly: 403,
  not_found: 404,
  artifact_service_missing: 404,
  already_exists: 409,
  stale_session: 409,
  ambiguous: 409,
  agent_running: 409,
  internal: 500,
  storage_failed: 500,
  wasm_unavailable: 500,
  not_loaded: 500,
  storage_newer: 500,
  corrupt_record: 500,
  run_failed: 500,
  unsupported: 501,
  remote: 502,
  closed: 503,
  too_many_runs: 503,
  storage_blocked: 503,
  storage_unavailable: 503,
  connection_lost: 503,
  aborted: 504,
  timeout: 504,
  quota_exceeded: 507,
};

/**
 * What a stranger is told for a status of a server's fault, also by a page that stores or tells it without a server.
 * The error's own message may name a file, a host or a statement.
 */
const DETAILS: Readonly<Record<number, string>> = {
  500: 'An internal error occurred.',
  502: 'The storage of the sessions refused the request.',
  503: 'The sessions cannot be reached now; try again.',
  504: 'The request took too long; try again.',
  507: 'There is no room left.',
};

/** The errors that stored events report. */
const errorsOfEvents = new WeakSet<SessionError>();

/** Makes the error of a run whose last event reports it. Everybody who reads the event knows it. */
export function errorOfEvent({ code, message }: { code: string; message: string }): SessionError {
  const cause = { code, message };
  const error = new SessionError('run_failed', `The agent failed: ${message}`, { cause });
  errorsOfEvents.add(error);
  return error;
}

/** Returns whether an error is one that an event of the run reports: nothing was thrown. */
export function isReportedByEvent(error: unknown): error is SessionError {
  return isSessionError(error) && errorsOfEvents.has(error);
}

/** Returns the HTTP status of the code of an error. */
export function statusOf(code: string): number {
  return Object.hasOwn(STATUSES, code) ? STATUSES[code as SessionErrorCode] : 500;
}

/** Returns what strangers are told in place of the message of an error with this status; `undefined`: the message. */
export function publicDetail(status: number): string | undefined {
  return DETAILS[status];
}

/**
 * Returns what strangers may know of an error: its code, and its text if it is not the server's fault. Of what an agent
 * threw, the code alone; of what an event of the run reports, all.
 */
export function publicErrorOf(error: unknown): PublicError {
  if (isSessionError(error) && error.code !== 'run_failed') {
    const { code, message } = error;
    return { code, message: DETAILS[STATUSES[code]] ?? message };
  }
  const { message = '', cause } = Object(error) as Partial<SessionError>;
  if (isReportedByEvent(error)) return { code: 'run_failed', message, cause: cause as PublicCause };
  const told = { code: 'run_failed', message: 'The agent failed.' };
  return isSessionError(cause) ? { ...told, cause: { code: cause.code } } : told;
}
