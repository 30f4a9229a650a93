// Time limits of services over servers. Time is real there, and a busy machine may be slow for minutes: a limit that
// passed by the clock would end calls by chance. A client's limit passes when the simulation says so, which it does only
// while one of the client's connections is frozen, and while the client closes without a call under way.

import { AsyncLocalStorage } from 'node:async_hooks';
import timers from 'node:timers';

/** A timer of at least so many milliseconds is a time limit. */
const LIMIT_MS = 5000;

/** An hour: the limits that a service gives to its server pass by the clock, and must not. */
export const NEVER_MS = 3_600_000;

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** The time limits of one client. */
export class TimeLimits {
  static readonly #ofClient = new AsyncLocalStorage<TimeLimits>();
  readonly #timers = new Map<object, Timer>();
  readonly #haste: number;
  #now = 0;

  /** @param haste shorter timers, such as pauses before another try, pass so many times as fast */
  constructor(haste = 1) {
    this.#haste = haste;
  }

  /**
   * Whatever the methods of the client's service wait for has these limits.
   *
   * @param called told of each call of a method, and of its answer
   */
  of<T extends object>(service: T, called?: (method: PropertyKey, answer: unknown) => void): T {
    return new Proxy(service, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(value, target, values) as unknown;
          const answer = TimeLimits.#ofClient.run(this, call);
          called?.(name, answer);
          return answer;
        };
      },
    });
  }

  /** Lets time pass until the next limit. */
  passOne(): void {
    const [first] = [...this.#timers].sort(([, one], [, other]) => one.at - other.at);
    if (first === undefined) return;
    const [timer, { at, run }] = first;
    this.#timers.delete(timer);
    this.#now = at;
    // It may begin another limit.
    TimeLimits.#ofClient.run(this, run);
  }

  /** Puts the limits of clients in the place of the engine's timers. @returns takes them back */
  static install(): () => void {
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const setTimer = (run: (...values: unknown[]) => void, after = 0, ...values: unknown[]) => {
      const limits = TimeLimits.#ofClient.getStore();
      if (limits === undefined) return set(run, after, ...values);
      if (after < LIMIT_MS) return set(run, after / limits.#haste, ...values);
      return limits.#set(() => run(...values), after);
    };
    const clearTimer = (timer: NodeJS.Timeout | Limit | undefined): void => {
      if (timer instanceof Limit) timer.clear();
      else clear(timer);
    };
    // Some drivers use the functions of Node's module.
    const places = [globalThis, timers] as unknown as Record<string, unknown>[];
    const put = (setTimeout: unknown, clearTimeout: unknown, now: () => number): void => {
      for (const place of places) Object.assign(place, { setTimeout, clearTimeout });
      performance.now = now;
    };
    const now = performance.now.bind(performance);
    put(setTimer, clearTimer, () => {
      const limits = TimeLimits.#ofClient.getStore();
      return limits === undefined ? now() : limits.#now;
    });
    return () => put(set, clear, now);
  }

  #set(run: () => void, after: number): Limit {
    const limit: Limit = new Limit(() => this.#timers.delete(limit));
    this.#timers.set(limit, { at: this.#now + after, run });
    return limit;
  }
}

/** In the place of Node's timer. */
class Limit {
  readonly clear: () => void;

  constructor(clear: () => void) {
    this.clear = clear;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
