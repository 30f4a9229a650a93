/** Makes errors of failed requests, and classifies them. */
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import {
  hasStatus,
  type HttpServer,
  isTransient,
  jsonIn,
  MAX_SHOWN_BODY,
  millisecondsUntil,
  noteRepetition,
  remoteError,
} from '../../http/http_errors.js';

/** The server, as errors name it. */
export const VERTEX_AI: HttpServer = { name: 'Vertex AI', storage: 'vertexai' };

const ADVICE: Readonly<Record<number, string>> = {
  400: 'The server does not accept this request.',
  401: 'The access token or key is invalid or expired.',
  403: 'The account of the access token needs the role roles/aiplatform.user.',
  404: 'Check the project, the location and the id of the agent engine.',
  429: 'The quota is exhausted; try again later.',
};

/**
 * Makes the error for a response with an error status.
 *
 * @param body the response text, without credentials
 * @param retryAfter the `Retry-After` header
 */
export function statusError(
  status: number,
  body: string,
  retryAfter: string | null = null,
): SessionError {
  const advice = ADVICE[status] ?? 'Try again later.';
  const delay = millisecondsUntil(retryAfter);
  const hint = delay === undefined ? '' : ` The server asks to wait ${Math.ceil(delay / 1000)} s.`;
  const message = `Vertex AI refused with status ${status}: ${serverMessage(body)}. ${advice}${hint}`;
  const error = remoteError(VERTEX_AI, message, status, body);
  noteRepetition(error, retryAfter);
  return error;
}

/** Makes the error for a response that is not the API's JSON: it comes from another server, or is incomplete. */
export function malformedResponse(status: number, body: string): SessionError {
  const message =
    'Vertex AI responded with something other than the JSON of its API; check baseUrl and proxies.';
  return remoteError(VERTEX_AI, message, status, body);
}

/** Makes the error for a write that the server may have done, if its outcome cannot be asked for. */
export function unconfirmedError(cause: unknown): unknown {
  if (!isSessionError(cause, 'storage_unavailable')) return cause;
  const message = `Vertex AI may have written the change. ${cause.message} Then try again.`;
  return new SessionError('connection_lost', message, { storage: 'vertexai', cause });
}

function serverMessage(body: string): string {
  const json = jsonIn(body) as { error?: { message?: unknown } } | null | undefined;
  const message = json?.error?.message;
  if (typeof message !== 'string') return 'no reason given';
  return message.slice(0, MAX_SHOWN_BODY).replace(/\.$/, '');
}

/**
 * Returns whether the error says that the session id is taken. For an id chosen by the caller, the server
 * reports this as a bad argument (400).
 */
export function isSessionIdTaken(error: unknown): boolean {
  return (
    hasStatus(error, 409) ||
    (hasStatus(error, 400) && /already exists/i.test((error as SessionError).body ?? ''))
  );
}

/**
 * Returns whether the request may have taken effect although it failed. Status 200 marks an unreadable
 * response.
 */
export function mayHaveTakenEffect(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') || isTransient(error) || hasStatus(error, 200);
}

/** An error that begins with what is stored. Its cause is the error without that. */
class AdvisedError extends SessionError {}

/** Returns the error with advice before its message. Advice that the error has already is replaced. */
export function withAdvice(error: unknown, advice: string): unknown {
  const bare = error instanceof AdvisedError ? error.cause : error;
  if (!isSessionError(bare)) return bare;
  const { code, message, key, status, body, storage } = bare;
  const fields = { key, status, body, storage, cause: bare };
  return new AdvisedError(code, `${advice} ${message}`, fields);
}
