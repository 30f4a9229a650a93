import type { Pace } from './pace.js';

const STEP_MS = 2;

/** After this number of steps without progress, steps become longer, because many seeds wait in one thread. */
const SHORT_STEPS = 50;
const LONG_STEP_MS = 20;

/** While a connection is frozen, one of its time limits passes after each of this number of steps. */
const STEPS_TO_LIMIT = 25;

/** The pace of real browsers and servers: they decide the order, time is real, and the seed decides only the faults. */
export class RealPace implements Pace {
  /** Ten minutes at least, because a busy machine is slow. A call that waits longer waits forever. */
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

  /** Prevents the end of the round until the work has settled. */
  async until(work: Promise<unknown>): Promise<void> {
    this.#waiting += 1;
    try {
      await work;
    } catch {
      // The caller of the work handles its error.
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Like {@link until}. @param passLimit lets a time limit pass; called again and again until the end */
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

/** The real timer: the simulation replaces the global one. */
const setTimer = globalThis.setTimeout.bind(globalThis);

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimer(done, milliseconds));
}
