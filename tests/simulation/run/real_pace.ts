import type { Pace } from './pace.js';

const STEP_MS = 2;

/** Of engines and servers that decide themselves what goes on when: time is real, and only the faults are the seed's. */
export class RealPace implements Pace {
  /** A busy machine is slow. This is a minute at least. */
  readonly patience = 60_000 / STEP_MS;
  #waiting = 0;

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  turn(): Promise<void> {
    return this.until(pause());
  }

  async next(): Promise<boolean> {
    await pause();
    return false;
  }

  /** Keeps the round going on until the work has ended, however it ends. */
  async until(work: Promise<unknown>): Promise<void> {
    this.#waiting += 1;
    try {
      await work;
    } catch {
      // Nobody asks for it.
    } finally {
      this.#waiting -= 1;
    }
  }
}

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done, STEP_MS));
}
