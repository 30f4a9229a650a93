// The time after which a service gives a transaction up, in the hand of a test.

import { around } from './around.js';

/** The `timeoutMs` of such a service: no other timer of the page is set for about so long. */
export const TIMEOUT = 20_000;

/** Holds the timers that are set from now on. Nothing is ever waited for by the clock. */
export class Watchdogs {
  readonly #set = new Map<unknown, () => void>();
  readonly #begun: (() => void)[] = [];
  readonly #stops: (() => void)[];
  #passed = 0;

  constructor() {
    this.#stops = [
      around(globalThis, 'setTimeout', (_realm, values, proceed) => {
        const [callback, delay] = values as [() => void, number];
        const id = proceed(...values);
        if (delay > TIMEOUT / 2 && delay <= TIMEOUT) this.#set.set(id, callback);
        return id;
      }),
      around(globalThis, 'clearTimeout', (_realm, values, proceed) => {
        this.#set.delete(values[0]);
        return proceed(...values);
      }),
      around(Performance.prototype, 'now', (_clock, values, proceed) => {
        return (proceed(...values) as number) + this.#passed;
      }),
      around(IDBDatabase.prototype, 'transaction', (_database, values, proceed) => {
        const transaction = proceed(...values);
        const started = this.#begun.splice(0);
        // The creator of the request attaches its handlers later.
        setTimeout(() => started.forEach((tell) => tell()));
        return transaction;
      }),
    ];
  }

  /** Resolves when the next transaction has begun and is listened to. */
  started(): Promise<void> {
    return new Promise((resolve) => this.#begun.push(resolve));
  }

  /** Lets all timers go off, at whatever time it is. */
  goOff(): void {
    const all = [...this.#set];
    for (const [id, callback] of all) {
      clearTimeout(id as number);
      callback();
    }
  }

  /** Lets them go off when their time has come. */
  pass(): void {
    this.#passed += TIMEOUT;
    this.goOff();
  }

  stop(): void {
    this.#stops.forEach((stop) => stop());
  }
}
