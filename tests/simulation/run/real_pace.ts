import type { Pace } from './pace.js';

const STEP_MS = 2;

/** After so many steps without progress the steps become longer: many seeds wait in one thread. */
const SHORT_STEPS = 50;
const LONG_STEP_MS = 20;

/** While something is frozen, one of its time limits passes after each so many steps. */
const STEPS_TO_LIMIT = 25;

/** Of engines and servers that decide themselves what goes on when: time is real, and only the faults are the seed's. */
export class RealPace implements Pace {
  /** Ten minutes at least: a busy machine is slow, and what waits so long waits for ever. */
  readonly patience = SHORT_STEPS + 600_000 / LONG_STEP_MS;
  readonly #frozen = new Set<() => void>();
  #waiting = 0;

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  turn(): Promise<void> {
    return this.until(pause(STEP_MS));
  }

  async next(idle: number): Promise<boolean> {
    await pause(idle < SHORT_STEPS ? STEP_MS : LONG_STEP_MS);
    for (const step of this.#frozen) step();
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

  /** As {@link until}. @param passLimit called if that takes long: lets a time limit pass */
  async frozenUntil(end: Promise<unknown>, passLimit: () => void): Promise<void> {
    let steps = 0;
    const step = () => {
      steps += 1;
      if (steps % STEPS_TO_LIMIT === 0) passLimit();
    };
    this.#frozen.add(step);
    await this.until(end);
    this.#frozen.delete(step);
  }
}

/** That of the engine, whatever the simulation puts in its place. */
const setTimer = globalThis.setTimeout.bind(globalThis);

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimer(done, milliseconds));
}
