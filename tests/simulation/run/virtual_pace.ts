// Order and time in a simulation that runs in one thread: the seed decides both, and nothing waits for a real clock.

import type { Pace } from './pace.js';
import type { Random } from './random.js';

const REAL = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
  timeout: AbortSignal.timeout.bind(AbortSignal),
  random: Math.random,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
};

/** What is due later is a time limit, not a pause. */
const LONG_MS = 5_000;

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Requests go on one by one, in an order that the seed decides. When none waits, the clock jumps to the next timer.
 */
export class VirtualPace implements Pace {
  readonly patience = 30;
  readonly #random: Random;
  readonly #waiting: (() => void)[] = [];
  readonly #timers = new Map<object, Timer>();
  readonly #realWork: (() => Promise<void>) | undefined;
  #now = 0;

  /**
   * @param realWork waits for what the storage does in real time, such as loading a module. No virtual time passes
   *   meanwhile: on a busy machine a time limit would end the seed, and no seed would repeat
   */
  constructor(random: Random, realWork?: () => Promise<void>) {
    this.#random = random;
    this.#realWork = realWork;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async next(idle: number): Promise<boolean> {
    await drained();
    if (this.#waiting.length === 0 && this.#realWork !== undefined) {
      await this.#realWork();
      await drained();
    }
    if (this.#waiting.length > 0) {
      const [resume] = this.#waiting.splice(this.#random.below(this.#waiting.length), 1);
      resume?.();
    } else if (!this.#passTime(idle > 10 ? Infinity : LONG_MS)) {
      return false;
    }
    await drained();
    return true;
  }

  /** Puts the seed's clock, timers and randomness in the place of the engine's. @returns takes it back */
  install(): () => void {
    const globals = globalThis as unknown as Record<string, unknown>;
    globals.setTimeout = (run: (...values: unknown[]) => void, after = 0, ...values: unknown[]) =>
      this.#set(() => run(...values), after);
    globals.clearTimeout = (timer: object) => this.#timers.delete(timer);
    AbortSignal.timeout = (after) => {
      const controller = new AbortController();
      this.#set(() => controller.abort(new DOMException('timed out', 'TimeoutError')), after);
      return controller.signal;
    };
    Math.random = () => this.#random.next();
    Date.now = () => 1_700_000_000_000 + Math.floor(this.#now);
    performance.now = () => this.#now;
    return () => {
      globals.setTimeout = REAL.setTimeout;
      globals.clearTimeout = REAL.clearTimeout;
      AbortSignal.timeout = REAL.timeout;
      Math.random = REAL.random;
      Date.now = REAL.dateNow;
      performance.now = REAL.performanceNow;
    };
  }

  #set(run: () => void, after: number): object {
    const timer = { unref: () => timer, ref: () => timer, hasRef: () => true, refresh: () => timer }; // prettier-ignore
    this.#timers.set(timer, { at: this.#now + Math.max(0, after), run });
    return timer;
  }

  /** @returns whether a timer was due within that many milliseconds */
  #passTime(most: number): boolean {
    const [first] = [...this.#timers].sort(([, one], [, other]) => one.at - other.at);
    if (first === undefined) return false;
    const [timer, { at, run }] = first;
    if (at - this.#now > most) return false;
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, at);
    run();
    return true;
  }
}

/** Resolves when no promise goes on by itself any more. */
function drained(): Promise<void> {
  return new Promise((resolve) => REAL.setImmediate(resolve));
}
