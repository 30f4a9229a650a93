/** Classifies failed requests as refusals, outages or others. Converts errors to records and back. */
import { codeOf } from '../../../core/call/diagnostics.js';
import { messageOf } from '../../../values/errors/describe.js';
import {
  fieldsOf,
  isSessionError,
  SessionError,
  sessionErrorOf,
} from '../../../values/errors/errors.js';
import { hasStatus, REFUSING } from '../../http/http_errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CacheFailure } from './status.js';

export function closedError(): SessionError {
  return new SessionError('closed', 'The cache was closed. Unsent changes are sent later.');
}

export function dataForgottenError(): SessionError {
  return new SessionError(
    'aborted',
    'The cache has forgotten its local data since the call began.',
  );
}

/** Codes of requests that the remote will never accept. */
const REFUSALS: readonly string[] = [
  'invalid_argument',
  'already_exists',
  'not_found',
  'stale_session',
  'unserializable',
  'schema_violation',
  'readonly',
  'ambiguous',
  'unsupported',
  'corrupt_record',
  'run_failed',
];

/** Whether the same request will fail again. */
export function isFinalRefusal(error: unknown): error is SessionError {
  return (
    (isSessionError(error) && REFUSALS.includes(error.code)) ||
    isGivenUp(error) ||
    // The response has no code.
    hasStatus(error, ...REFUSING)
  );
}

/** Whether the remote refuses a message because it was cancelled before it came. */
export function isGivenUp(error: unknown): boolean {
  return isSessionError(error, 'aborted') && error.status === 409;
}

/** Codes of a remote that cannot serve any request now. */
const OUTAGES: readonly string[] = [
  'connection_lost',
  'storage_unavailable',
  'storage_blocked',
  'storage_failed',
  'storage_newer',
  'quota_exceeded',
  'closed',
];

/** Statuses of a server that cannot serve any request now, besides those from 500 on. */
const OUTAGE_STATUSES: readonly number[] = [401, 408, 429];

/**
 * Whether other requests will fail now too. A failure that is neither this nor a refusal concerns one request alone.
 *
 * A status below 400 means a web page in place of an answer, such as the login page of a network.
 */
export function isOutage(error: unknown): boolean {
  if (!isSessionError(error) || isFinalRefusal(error)) return false;
  const { code, status } = error;
  if (code !== 'remote' || status === undefined) return OUTAGES.includes(code);
  return status < 400 || status >= 500 || OUTAGE_STATUSES.includes(status);
}

/** Converts an error to a record, with all its public members. */
export function failureOfError(error: unknown): CacheFailure {
  if (!isSessionError(error)) return { code: codeOf(error), message: messageOf(error) };
  const { code, message, cause } = error;
  const { code: thrown } = Object(cause) as { readonly code?: unknown };
  const told = code === 'run_failed' && typeof thrown === 'string' && { cause: { code: thrown } };
  return { ...fieldsOf(error), code, message, ...told };
}

/** Returns an error that says the same as one that {@link failureOfError} has converted. */
export function errorOf({ code, message, ...fields }: CacheFailure): SessionError {
  return sessionErrorOf(code, message, fields);
}

/** Why nothing can be written to a session. */
export function refusalOfDeleted({ sessionId }: CompositeSessionKey): CacheFailure {
  const message = `Session ${JSON.stringify(sessionId)} was deleted on the remote.`;
  return { code: 'not_found', message };
}

/** Whether the remote wants another login. */
export function isSignedOut(error: unknown): boolean {
  return hasStatus(error, 401);
}
