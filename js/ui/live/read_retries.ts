import { backgroundTimer } from '../../core/call/lifetime.js';
import { backoff } from '../../core/call/scheduling.js';
import { coreOf } from '../../core/core_of.js';
import { hasStatus, retryAfterOf } from '../../stores/http/http_errors.js';
import { isSessionError, type SessionErrorCode } from '../../values/errors/errors.js';
import { cachingOf } from './snapshot/unsent_events.js';

/** First and longest pause before a failed read is repeated, in milliseconds. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;

/** Codes of reads that fail again, however often they are repeated. */
const FINAL: readonly SessionErrorCode[] = [
  'invalid_argument',
  'unsupported',
  'not_found',
  'closed',
];

/** Repeats the reads of a store that have failed: after pauses that grow until a read succeeds. */
export class ReadRetries {
  readonly #read: () => void;
  #failed = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param read begins a read */
  constructor(read: () => void) {
    this.#read = read;
  }

  /** Repeats nothing until the next failure. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Repeats nothing until the next failure, and then begins with the shortest pause. */
  reset(): void {
    this.stop();
    this.#failed = 0;
  }

  /**
   * Repeats a read that has failed. One that wants another login waits for {@link onReadable}: a server may lock out
   * a client that keeps asking.
   */
  noteFailure(error: unknown, service: object | undefined): void {
    this.stop();
    if (isSessionError(error) && FINAL.includes(error.code)) return;
    if (hasStatus(error, 401, 403) && service !== undefined && isAnnounced(service)) return;
    const pause = Math.max(backoff(this.#failed, FIRST_PAUSE, LONGEST_PAUSE), retryAfterOf(error));
    this.#failed += 1;
    this.#timer = backgroundTimer(this.#read, pause);
  }
}

/** Whether {@link onReadable} tells of another login. */
function isAnnounced(service: object): boolean {
  return cachingOf(service) !== undefined || coreOf(service)?.publisher.feed.onOpen !== undefined;
}

/**
 * Calls a function when the server of a service can be read again, as far as that is told: a feed of the service has
 * opened, or a cache is online and signed in again.
 *
 * @returns a function that ends this
 */
export function onReadable(service: object, run: () => void): () => void {
  const stopFeed = coreOf(service)?.publisher.feed.onOpen?.(run);
  const caching = cachingOf(service);
  let isUp = true;
  const stopStatus = caching?.watchStatus(({ isOnline, isSignedOut }) => {
    const wasUp = isUp;
    isUp = isOnline && !isSignedOut;
    if (isUp && !wasUp) run();
  });
  return () => {
    stopFeed?.();
    stopStatus?.();
  };
}
