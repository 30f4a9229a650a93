// Time limits of services over servers. Time is real there, and a busy machine may be slow for minutes: a limit by the
// clock would end calls at random. So the simulation decides when a client's limit passes: only while one of the
// client's connections is frozen, or while the client closes without pending calls.

import { AsyncLocalStorage } from 'node:async_hooks';
import timers from 'node:timers';

/** A timer of at least this duration is a time limit. */
const LIMIT_MS = 5000;

/** One hour. Limits that a service sends to its server follow the clock, so they must never pass. */
export const NEVER_MS = 3_600_000;

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** The time limits of one client. */
export class TimeLimits {
  static readonly #ofClient = new AsyncLocalStorage<TimeLimits>();
  readonly #timers = new Map<object, Timer>();
  readonly #speedUp: number;
  #now = 0;

  /** @param speedUp the factor by which shorter timers, such as pauses before a retry, are shortened */
  constructor(speedUp = 1) {
    this.#speedUp = speedUp;
  }

  /**
   * Applies these limits to the methods of the client's service.
   *
   * @param onCall called with the name of each called method and its result
   */
  of<T extends object>(service: T, onCall?: (method: PropertyKey, result: unknown) => void): T {
    return new Proxy(service, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(value, target, values) as unknown;
          const result = TimeLimits.#ofClient.run(this, call);
          onCall?.(name, result);
          return result;
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
    // The timer may start another limit.
    TimeLimits.#ofClient.run(this, run);
  }

  /** Replaces the real timers by the limits of clients. @returns restores the timers */
  static install(): () => void {
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const setTimer = (run: (...values: unknown[]) => void, after = 0, ...values: unknown[]) => {
      const limits = TimeLimits.#ofClient.getStore();
      if (limits === undefined) return set(run, after, ...values);
      if (after < LIMIT_MS) return set(run, after / limits.#speedUp, ...values);
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

/** The replacement of Node's timer object. */
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
