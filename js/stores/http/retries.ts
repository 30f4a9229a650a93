import { backoff } from '../../core/call/scheduling.js';
import type { CallLimit } from './call_limit.js';
import { isTransient, retryAfterOf } from './http_errors.js';

/** Five retries take about two seconds: short enough for a turn, long enough for a server to be replaced. */
export const MAX_RETRIES = 5;
/** First pause between attempts, in milliseconds. */
const FIRST_PAUSE = 100;
/** Longest pause between attempts, in milliseconds. */
const LONGEST_PAUSE = 1600;

/** Counts and delays the repetitions of one request. */
export class Retries {
  readonly #limit: CallLimit;
  readonly #end: number;
  readonly #maxCount: number;
  #count = 0;

  /**
   * @param timeoutMs time for all attempts, in milliseconds; `Infinity`: only the call's own limit counts
   * @param maxCount the most repetitions of a failed request
   */
  constructor(limit: CallLimit, timeoutMs = Infinity, maxCount = MAX_RETRIES) {
    this.#limit = limit;
    this.#end = Date.now() + timeoutMs;
    this.#maxCount = maxCount;
  }

  /**
   * Waits before a failed request is repeated, at least as long as the server asked for.
   *
   * @throws the failure itself, if a repetition would not help or fit into the time
   */
  async afterFailure(failure: unknown, mayHelp = isTransient(failure)): Promise<void> {
    if (this.#count >= this.#maxCount || !mayHelp) throw failure;
    await this.#pause(failure, retryAfterOf(failure));
    this.#limit.countRetry();
  }

  /**
   * Waits before the next poll. The number of polls is not limited.
   *
   * @throws the failure, if the next poll would not fit into the time
   */
  beforePoll(failure: unknown): Promise<void> {
    return this.#pause(failure, 0);
  }

  async #pause(failure: unknown, atLeast: number): Promise<void> {
    const pause = Math.max(backoff(this.#count, FIRST_PAUSE, LONGEST_PAUSE), atLeast);
    this.#count += 1;
    if (pause >= Math.min(this.#limit.remaining, this.#end - Date.now())) throw failure;
    await this.#limit.pause(pause);
  }
}

/**
 * Runs an attempt, and repeats it after failures.
 *
 * @throws the last failure, see {@link Retries.afterFailure}
 */
export async function repeat<T>(retries: Retries, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (failure) {
      await retries.afterFailure(failure);
    }
  }
}
