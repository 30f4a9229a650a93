import { backoff } from '../../call/backoff.js';
import type { CallLimit } from './call_limit.js';
import { isTransient, retryAfterOf } from './failure.js';

/** Five retries take about two seconds: short enough for a turn, long enough for a server to be replaced. */
const MOST_RETRIES = 5;
/** First pause between attempts, in milliseconds. */
export const FIRST_PAUSE = 100;
/** Longest pause between attempts, in milliseconds. */
export const LONGEST_PAUSE = 1600;

/** Counts and delays the retries of one request. */
export class Tries {
  readonly #limit: CallLimit;
  #count = 0;

  constructor(limit: CallLimit) {
    this.#limit = limit;
  }

  /**
   * Waits before the next try, at least as long as the server asked for.
   *
   * @throws the failure itself, if no further try would help or fit into the call's time
   */
  async next(failure: unknown): Promise<void> {
    const retries = this.#count;
    this.#count += 1;
    if (retries === MOST_RETRIES || !isTransient(failure)) throw failure;
    const pause = backoff(retries, FIRST_PAUSE, LONGEST_PAUSE);
    const wait = Math.max(pause, retryAfterOf(failure));
    if (wait >= this.#limit.remaining) throw failure;
    await this.#limit.pause(wait);
  }
}
