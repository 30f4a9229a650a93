/** Closes a service: pending calls may finish as long as the server keeps answering. */
import { TimeLimit } from '../../core/call/time_limit.js';
import { SessionError } from '../../values/errors/errors.js';
import type { HttpServer } from './http_errors.js';

/** Milliseconds without a successful response after which a closing service aborts its pending calls. */
const CLOSE_TIMEOUT_MS = 5000;

/**
 * Returns the limit of a service's pending calls. It starts when the service closes, each successful response restarts
 * it, and its signal fires when the service stops waiting.
 */
export function closeLimit(server: HttpServer): TimeLimit {
  return new TimeLimit(undefined, () => closedError(server));
}

/** @param timeoutMs at most so many milliseconds */
export function startClosing(limit: TimeLimit, timeoutMs = CLOSE_TIMEOUT_MS): void {
  limit.start(Math.min(timeoutMs, CLOSE_TIMEOUT_MS));
}

function closedError({ name, storage }: HttpServer): SessionError {
  return new SessionError(
    'closed',
    `The service was closed before ${name} responded. An append may be stored; ` +
      'repeat it with another service: a stored event is not stored twice.',
    { storage },
  );
}
