/** Makes errors of requests that got no usable response, and classifies errors of requests. */
import { isSessionError, SessionError } from '../errors/errors.js';

/** A server, as errors name it. */
export interface HttpServer {
  /** Begins the messages. */
  readonly name: string;
  /** The `storage` of the errors. */
  readonly storage: string;
}

/** The delay that the server asked for, in milliseconds. */
const RETRY_AFTER = new WeakMap<SessionError, number>();

/** Notes the delay that the `Retry-After` header of a response asks for. */
export function noteRetryAfter(error: SessionError, header: string | null): void {
  const delay = millisecondsUntil(header);
  if (delay !== undefined) RETRY_AFTER.set(error, delay);
}

/** Returns the delay that the server asked for, in milliseconds; 0 if it did not. */
export function retryAfterOf(error: unknown): number {
  return RETRY_AFTER.get(error as SessionError) ?? 0;
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
  { name, storage }: HttpServer,
  cause: unknown,
  timeoutMs: number,
): SessionError {
  if (isSessionError(cause)) return cause;
  const problem = isTimeout(cause)
    ? `did not answer within ${timeoutMs} ms`
    : `could not be reached: ${innermostMessage(cause)}`;
  const message = `${name} ${problem}. Try again: a stored event is not stored twice.`;
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

function isTimeout(cause: unknown): boolean {
  return (cause as { name?: unknown } | null | undefined)?.name === 'TimeoutError';
}

/** Returns the innermost message: `fetch` itself reports only that it failed, and its cause says why. */
export function innermostMessage(error: unknown): string {
  const { cause, message } = Object(error) as { cause?: unknown; message?: unknown };
  return cause instanceof Error ? innermostMessage(cause) : String(message ?? error);
}

export function hasStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return isSessionError(error, 'remote') && statuses.includes(error.status ?? 0);
}

/** Statuses of requests that may succeed when they are sent again. */
export const TRANSIENT: readonly number[] = [408, 429, 500, 502, 503, 504];

/** Returns whether a retry of the same request may succeed. A request that timed out is not retried. */
export function isTransient(error: unknown): boolean {
  if (isSessionError(error, 'connection_lost')) return !isTimeout(error.cause);
  return hasStatus(error, ...TRANSIENT);
}
