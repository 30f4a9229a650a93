import { nextTask } from './scheduling.js';

/**
 * Divides work over turns of the event loop, so that connections, timers and other tasks run between. Node accepts one
 * connection in a turn, so with turns of half a second a hundred new clients would wait for a minute.
 */
export class TurnLimit {
  readonly #limitMs: number;
  /** When the first work of this turn began. */
  #start: number | undefined;
  #waiting = 0;

  /** @param limitMs how long work may hold a turn before the next waits, in milliseconds */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Whether work may begin in this turn. Otherwise it waits for {@link TurnLimit.next}. */
  mayBegin(): boolean {
    return this.#waiting === 0 && this.#hasTime();
  }

  /** Waits for a later turn that has time, behind what has waited before. */
  async next(): Promise<void> {
    this.#waiting += 1;
    do await nextTask();
    while (!this.#hasTime());
    this.#waiting -= 1;
  }

  #hasTime(): boolean {
    const now = performance.now();
    if (this.#start === undefined) {
      this.#start = now;
      void nextTask().then(() => (this.#start = undefined));
    }
    return now - this.#start < this.#limitMs;
  }
}
