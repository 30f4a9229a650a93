/** Makes errors of requests that got no usable response, and classifies errors of requests. */
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { parseJson } from '../../values/json/parse.js';

/** A server, as errors name it. */
export interface HttpServer {
  /** Begins the messages. */
  readonly name: string;
  /** The `storage` of the errors. */
  readonly storage: string;
  /** A sentence on what else may be wrong if a page gets no response. */
  readonly hintInPage?: string;
}

/** Maximum length of the response text that an error shows, in characters. */
export const MAX_SHOWN_BODY = 500;

/** Returns the value of a JSON text. Returns `undefined` for other texts, for example a proxy's error page. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Makes the error `remote` of a response.
 *
 * @param body the response text, without credentials
 */
export function remoteError(
  { storage }: HttpServer,
  message: string,
  status: number,
  body: string,
): SessionError {
  return new SessionError('remote', message, {
    status,
    body: body.slice(0, MAX_SHOWN_BODY),
    storage,
  });
}

/** What a response says about a repetition of its request. */
interface RepetitionHint {
  /** Whether the same request may succeed later. Absent: the error itself tells. */
  readonly isTransient?: boolean | undefined;
  /** The delay that the server asked for, in milliseconds. */
  readonly delay?: number | undefined;
}

const HINTS = new WeakMap<SessionError, RepetitionHint>();

/**
 * Notes on an error what its response says about a repetition of the request.
 *
 * @param retryAfter the `Retry-After` header
 */
export function noteRepetition(
  error: SessionError,
  retryAfter: string | null,
  isTransient?: boolean,
): void {
  HINTS.set(error, { isTransient, delay: millisecondsUntil(retryAfter) });
}

/** Returns the delay that the server asked for, in milliseconds; 0 if it did not. */
export function retryAfterOf(error: unknown): number {
  return HINTS.get(error as SessionError)?.delay ?? 0;
}

/**
 * Whether the server refuses a message or a rewind because of the agents that run. It accepts the same request later.
 */
export function isWaitingForRun(error: unknown): boolean {
  return isSessionError(error, 'agent_running') || isSessionError(error, 'too_many_runs');
}

/** A timer with more milliseconds fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** `Retry-After` is a number of seconds or a date. */
export function millisecondsUntil(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const isSeconds = /^\d+$/.test(retryAfter);
  const delay = isSeconds ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(delay) ? undefined : Math.min(Math.max(0, delay), LONGEST_TIMER);
}

/** Makes the error for a request without a response. A `SessionError` is returned as it is. */
export function connectionError(
  { name, storage, hintInPage }: HttpServer,
  cause: unknown,
  timeoutMs: number,
): SessionError {
  if (isSessionError(cause)) return cause;
  const problem = isTimeout(cause)
    ? `did not answer within ${timeoutMs} ms`
    : `could not be reached: ${innermostMessage(cause)}`;
  // A page is not told whether the address is wrong or the server refuses its origin.
  const isPage = 'document' in globalThis;
  const place = isPage ? 'address and the origins that it allows' : 'address';
  const check = isTimeout(cause) ? 'Try again' : `Check its ${place}, then try again`;
  const hint = isPage && !isTimeout(cause) && hintInPage ? ` ${hintInPage}` : '';
  const message = `${name} ${problem}. ${check}: a stored event is not stored twice.${hint}`;
  return new SessionError('connection_lost', message, { storage, cause });
}

/** Makes the error for a timeout. A request that timed out is not retried, see {@link isTransient}. */
export function timeoutError({ storage }: HttpServer, message: string): SessionError {
  return new SessionError('connection_lost', message, {
    storage,
    cause: timeoutReason(),
  });
}

export function timeoutReason(): Error {
  return new DOMException('The time is over.', 'TimeoutError');
}

/** Whether a request has failed because its time was over. */
export function isTimeoutError(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') && isTimeout(error.cause);
}

function isTimeout(cause: unknown): boolean {
  return (cause as { name?: unknown } | null | undefined)?.name === 'TimeoutError';
}

/** The most causes that are followed. */
const MAX_CAUSES = 10;

/** Returns the innermost message: `fetch` itself reports only that it failed, and its cause says why. */
export function innermostMessage(error: unknown, depth = 0): string {
  const { cause, message } = Object(error) as { cause?: unknown; message?: unknown };
  // Causes may form a circle.
  if (cause instanceof Error && depth < MAX_CAUSES) return innermostMessage(cause, depth + 1);
  return String(message ?? error);
}

export function hasStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return isSessionError(error, 'remote') && statuses.includes(error.status ?? 0);
}

/** Statuses with which a server refuses a request for good. */
export const REFUSING: readonly number[] = [400, 403, 413, 422, 501];

/** Statuses of requests that may succeed when they are sent again. */
export const TRANSIENT: readonly number[] = [408, 429, 500, 502, 503, 504];

/** Returns whether a retry of the same request may succeed. A request that timed out is not retried. */
export function isTransient(error: unknown): boolean {
  const hint = HINTS.get(error as SessionError)?.isTransient;
  if (hint !== undefined) return hint;
  if (isSessionError(error, 'connection_lost')) return !isTimeout(error.cause);
  return hasStatus(error, ...TRANSIENT);
}
