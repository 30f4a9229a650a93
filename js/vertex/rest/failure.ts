/** What a request that failed becomes. */
import { isSessionError, SessionError } from '../../errors/errors.js';

/** Characters of an answer that an error shows. */
const SHOWN = 500;

const WHAT_TO_DO: Readonly<Record<number, string>> = {
  400: 'The server takes no such request.',
  401: 'The access token or key is not valid: check it, and that it has not run out.',
  403: 'Check that whoever the access token is of may use the agent engine (roles/aiplatform.user).',
  404: 'Check the project, the location and the id of the agent engine.',
  429: 'The quota is used up for the moment; try again later.',
};

/** How long the server asked to wait, in milliseconds. */
const RETRY_AFTER = new WeakMap<SessionError, number>();

/**
 * The server's refusal.
 *
 * @param body its answer, without credentials
 * @param retryAfter the header of that name
 */
export function refused(
  status: number,
  body: string,
  retryAfter: string | null = null,
): SessionError {
  const advice = WHAT_TO_DO[status] ?? 'Try again later.';
  const wait = retryAfter === null ? undefined : millisecondsUntil(retryAfter);
  const hint = wait === undefined ? '' : ` The server asks to wait ${Math.ceil(wait / 1000)} s.`;
  const message = `Vertex AI refused with status ${status}: ${reasonOf(body)}. ${advice}${hint}`;
  const error = new SessionError('remote', message, {
    status,
    body: body.slice(0, SHOWN),
    storage: 'vertexai',
  });
  if (wait !== undefined) RETRY_AFTER.set(error, wait);
  return error;
}

/** Milliseconds; 0 where the server did not say. */
export function retryAfterOf(error: unknown): number {
  return RETRY_AFTER.get(error as SessionError) ?? 0;
}

/** `Retry-After` is a number of seconds or a date. */
function millisecondsUntil(retryAfter: string): number | undefined {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** An answer that says nothing: it is not the server's, or not whole. */
export function malformed(status: number, body: string): SessionError {
  const message =
    'Vertex AI answered with something other than the JSON of its API; check baseUrl and what is on the way.';
  return new SessionError('remote', message, {
    status,
    body: body.slice(0, SHOWN),
    storage: 'vertexai',
  });
}

/** What a request ended with. */
export function lost(cause: unknown, timeoutMs: number): SessionError {
  if (isSessionError(cause)) return cause;
  const what = isTimeout(cause)
    ? `did not answer within ${timeoutMs} ms`
    : `could not be reached: ${deepest(cause)}`;
  const message = `Vertex AI ${what}. Try again: an append that was stored after all is not stored twice.`;
  return new SessionError('connection_lost', message, { storage: 'vertexai', cause });
}

/** What was waited for in vain, so that no request is made again for it, see {@link isTransient}. */
export function timedOut(message: string): SessionError {
  return new SessionError('connection_lost', message, { storage: 'vertexai', cause: timeoutOf() });
}

export function timeoutOf(): DOMException {
  return new DOMException('The time is over.', 'TimeoutError');
}

function isTimeout(cause: unknown): boolean {
  return (cause as { name?: unknown } | null | undefined)?.name === 'TimeoutError';
}

/** `fetch` says that it failed, and only its cause says why. */
function deepest(error: unknown): string {
  const { cause, message } = Object(error) as { cause?: unknown; message?: unknown };
  return cause instanceof Error ? deepest(cause) : String(message ?? error);
}

function reasonOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return error.message.slice(0, SHOWN).replace(/\.$/, '');
  } catch {
    // No JSON: a proxy's page.
  }
  return 'it does not say why';
}

export function hasStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return isSessionError(error, 'remote') && statuses.includes(error.status ?? 0);
}

/** Whether there is a session of that id. The server calls it a bad argument, where the id was the caller's. */
export function isTaken(error: unknown): boolean {
  return (
    hasStatus(error, 409) ||
    (hasStatus(error, 400) && /already exists/i.test((error as SessionError).body ?? ''))
  );
}

/** Whether the same request may succeed a little later. One that was waited for in vain is not waited for again. */
export function isTransient(error: unknown): boolean {
  if (isSessionError(error, 'connection_lost')) return !isTimeout(error.cause);
  return hasStatus(error, 408, 429, 500, 502, 503, 504);
}

/** Whether what was asked for may have been done all the same. */
export function mayBeDone(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') || isTransient(error) || hasStatus(error, 200);
}
