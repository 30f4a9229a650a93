import type { Pace } from './pace.js';

const STEP_MS = 2;

/** After so many steps without progress the steps become longer: many seeds wait in one thread. */
const SHORT_STEPS = 50;
const LONG_STEP_MS = 20;

/** Of engines and servers that decide themselves what goes on when: time is real, and only the faults are the seed's. */
export class RealPace implements Pace {
  /** A busy machine is slow. This is a minute at least. */
  readonly patience = SHORT_STEPS + 60_000 / LONG_STEP_MS;
  #waiting = 0;

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  turn(): Promise<void> {
    return this.until(pause(STEP_MS));
  }

  async next(idle: number): Promise<boolean> {
    await pause(idle < SHORT_STEPS ? STEP_MS : LONG_STEP_MS);
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

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
