/** Limits everything that a call waits for. */
import { MAX_TIMEOUT_MS } from '../../../values/errors/option_values.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import { abortedError } from '../../../core/call/call.js';
import { TimeLimit } from '../../../core/call/time_limit.js';

/** The default of `timeoutMs`. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** Multiplies the time limit of a statement that builds an index: on a large table it takes long. */
export const INDEX_FACTOR = 20;

/**
 * Added to the limit that servers get for a statement. Only a frozen server has not reported its own timeout
 * by then.
 */
const GRACE_MS = 1000;

/** The limit of each wait once the service closes. */
const CLOSING_MS = 5000;

/** The options of a wait. */
export interface WaitOptions {
  readonly signal?: HostAbortSignal | undefined;
  /** Whether a signal that fires still ends the wait. Default: always. */
  readonly isAbortable?: () => boolean;
  /** Returns a number that grows with everything that arrives. The limit counts from the last arrival. */
  readonly received?: () => number;
  /** Multiplies the limit, until the service closes. */
  readonly factor?: number | undefined;
}

/** The time limits of one service. */
export class Waits {
  readonly timeoutMs: number;
  #limit: number;
  #isClosing = false;
  /** The limits of the waits under way. */
  readonly #limits = new Set<TimeLimit>();

  constructor(timeoutMs: number = DEFAULT_TIMEOUT_MS) {
    this.timeoutMs = timeoutMs;
    this.#limit = timeoutMs + GRACE_MS;
  }

  /**
   * Shortens all waits because the service closes, including those under way.
   *
   * @param limit their limit in milliseconds, if it is shorter than that of every close
   */
  shorten(limit = CLOSING_MS): void {
    this.#limit = Math.min(this.#limit, CLOSING_MS, limit);
    this.#isClosing = true;
    for (const limit of this.#limits) limit.start(this.#timerMs(1));
  }

  /** Whether the limit has passed since `start`, a time of `performance.now()`. */
  isOver(start: number): boolean {
    return performance.now() - start > Math.min(this.#limit, this.timeoutMs);
  }

  /**
   * Waits for a promise until the limit has passed. The awaited work continues; the caller must end it.
   *
   * @param timedOut makes the error from the milliseconds of the limit
   * @throws SessionError (as a rejection) `aborted` when the signal fires
   */
  async until<T>(
    awaited: Promise<T>,
    timedOut: (milliseconds: number) => Error,
    { signal, isAbortable, received, factor = 1 }: WaitOptions = {},
  ): Promise<T> {
    const limit = new TimeLimit(this.#timerMs(factor), timedOut, received);
    if (signal !== undefined) limit.follow(signal, () => abortedError(signal), isAbortable);
    this.#limits.add(limit);
    try {
      return await limit.race(awaited);
    } finally {
      this.#limits.delete(limit);
      limit.end();
    }
  }

  #timerMs(factor: number): number {
    // A longer timer would fire at once.
    return Math.min(this.#limit * (this.#isClosing ? 1 : factor), MAX_TIMEOUT_MS);
  }
}
