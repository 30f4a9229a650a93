/** Makes errors of failed requests, and classifies them. */
import { isSessionError, SessionError } from '../../errors/errors.js';

/** Maximum length of the response text that an error shows, in characters. */
const MAX_SHOWN_BODY = 500;

const ADVICE: Readonly<Record<number, string>> = {
  400: 'The server does not accept this request.',
  401: 'The access token or key is invalid or expired.',
  403: 'The account of the access token needs the role roles/aiplatform.user.',
  404: 'Check the project, the location and the id of the agent engine.',
  429: 'The quota is exhausted; try again later.',
};

/** The delay that the server asked for, in milliseconds. */
const RETRY_AFTER = new WeakMap<SessionError, number>();

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
  const delay = retryAfter === null ? undefined : millisecondsUntil(retryAfter);
  const hint = delay === undefined ? '' : ` The server asks to wait ${Math.ceil(delay / 1000)} s.`;
  const message = `Vertex AI refused with status ${status}: ${serverMessage(body)}. ${advice}${hint}`;
  const error = new SessionError('remote', message, {
    status,
    body: body.slice(0, MAX_SHOWN_BODY),
    storage: 'vertexai',
  });
  if (delay !== undefined) RETRY_AFTER.set(error, delay);
  return error;
}

/** Returns the delay that the server asked for, in milliseconds; 0 if it did not. */
export function retryAfterOf(error: unknown): number {
  return RETRY_AFTER.get(error as SessionError) ?? 0;
}

/** `Retry-After` is a number of seconds or a date. */
function millisecondsUntil(retryAfter: string): number | undefined {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Makes the error for a response that is not the API's JSON: it comes from another server, or is incomplete. */
export function malformedResponse(status: number, body: string): SessionError {
  const message =
    'Vertex AI responded with something other than the JSON of its API; check baseUrl and proxies.';
  return new SessionError('remote', message, {
    status,
    body: body.slice(0, MAX_SHOWN_BODY),
    storage: 'vertexai',
  });
}

/** Makes the error for a request without a response. A `SessionError` is returned as it is. */
export function connectionError(cause: unknown, timeoutMs: number): SessionError {
  if (isSessionError(cause)) return cause;
  const problem = isTimeout(cause)
    ? `did not answer within ${timeoutMs} ms`
    : `could not be reached: ${innermostMessage(cause)}`;
  const message = `Vertex AI ${problem}. Try again: a stored event is not stored twice.`;
  return new SessionError('connection_lost', message, { storage: 'vertexai', cause });
}

/** Makes the error for a write that the server may have done, if its outcome cannot be asked for. */
export function unconfirmedError(cause: unknown): unknown {
  if (!isSessionError(cause, 'storage_unavailable')) return cause;
  const message = `Vertex AI may have written the change. ${cause.message} Then try again.`;
  return new SessionError('connection_lost', message, { storage: 'vertexai', cause });
}

/** Makes the error for a timeout. A request that timed out is not retried, see {@link isTransient}. */
export function timeoutError(message: string): SessionError {
  return new SessionError('connection_lost', message, {
    storage: 'vertexai',
    cause: timeoutReason(),
  });
}

export function timeoutReason(): DOMException {
  return new DOMException('The time is over.', 'TimeoutError');
}

function isTimeout(cause: unknown): boolean {
  return (cause as { name?: unknown } | null | undefined)?.name === 'TimeoutError';
}

/** Returns the innermost message: `fetch` itself reports only that it failed, and its cause says why. */
function innermostMessage(error: unknown): string {
  const { cause, message } = Object(error) as { cause?: unknown; message?: unknown };
  return cause instanceof Error ? innermostMessage(cause) : String(message ?? error);
}

function serverMessage(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string')
      return error.message.slice(0, MAX_SHOWN_BODY).replace(/\.$/, '');
  } catch {
    // Not JSON, for example a proxy's error page.
  }
  return 'no reason given';
}

export function hasStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return isSessionError(error, 'remote') && statuses.includes(error.status ?? 0);
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

/** Returns whether a retry of the same request may succeed. A request that timed out is not retried. */
export function isTransient(error: unknown): boolean {
  if (isSessionError(error, 'connection_lost')) return !isTimeout(error.cause);
  return hasStatus(error, 408, 429, 500, 502, 503, 504);
}

/**
 * Returns whether the request may have taken effect although it failed. Status 200 marks an unreadable
 * response.
 */
export function mayHaveTakenEffect(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') || isTransient(error) || hasStatus(error, 200);
}
