import type { CallLimit } from './call_limit.js';
import { isTransient, retryAfterOf } from './failure.js';

/** Milliseconds between a try and the next: short enough for a turn, long enough for a server that is replaced. */
const PAUSES = [100, 400, 1600];

/** The tries of one request. */
export class Tries {
  readonly #limit: CallLimit;
  #count = 0;

  constructor(limit: CallLimit) {
    this.#limit = limit;
  }

  /**
   * Waits before the next try, at least as long as the server asked for.
   *
   * @throws what failed, where no further try would help or fit into the call's time
   */
  async next(failure: unknown): Promise<void> {
    const pause = PAUSES[this.#count];
    this.#count += 1;
    if (pause === undefined || !isTransient(failure)) throw failure;
    const wait = Math.max(pause, retryAfterOf(failure));
    if (wait >= this.#limit.remaining) throw failure;
    await this.#limit.pause(wait);
  }
}
