// Order and time of a simulation in one thread: the seed decides both, and nothing waits for a real clock.

import type { Pace } from './pace.js';
import type { Random } from '../random.js';

const REAL = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
  timeout: AbortSignal.timeout.bind(AbortSignal),
  random: Math.random,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
};

/** A timer with a longer delay is a time limit, not a pause. */
const LONG_MS = 5_000;

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Requests continue one by one, in an order that the seed decides. If no request waits, the clock jumps to the next timer.
 */
export class VirtualPace implements Pace {
  readonly patience = 30;
  readonly #random: Random;
  readonly #waiting: (() => void)[] = [];
  readonly #timers = new Map<object, Timer>();
  readonly #realWork: (() => Promise<void>) | undefined;
  #now = 0;

  /**
   * @param realWork waits for the storage's work in real time, such as loading a module. No virtual time passes
   *   meanwhile. Otherwise a time limit could end the seed on a busy machine, and seeds would not be repeatable
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

  /** Replaces the real clock, timers and randomness by the seed's. @returns restores them */
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

/** Resolves when no promise is ready to continue. */
function drained(): Promise<void> {
  return new Promise((resolve) => REAL.setImmediate(resolve));
}
