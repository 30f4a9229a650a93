import { backoff } from '../../../core/call/backoff.js';

/** The first and the longest pause until an operation is sent again, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5000;

interface RunWait {
  readonly number: number;
  /** How often the remote has said that an agent runs. */
  readonly count: number;
  /** Absent once the wait has ended. */
  readonly timer: ReturnType<typeof setTimeout> | undefined;
}

/** The operations that wait until an agent has ended its run in their session. Waiting is no failure. */
export class RunWaits {
  readonly #waits = new Map<string, RunWait>();
  readonly #onEnd: () => void;

  /** @param onEnd called when operations may be sent again */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Whether an operation of a session waits. */
  has(name: string, { number }: { readonly number: number }): boolean {
    const wait = this.#waits.get(name);
    return wait?.number === number && wait.timer !== undefined;
  }

  begin(name: string, number: number): void {
    const earlier = this.#waits.get(name);
    clearTimeout(earlier?.timer);
    const count = earlier?.number === number ? earlier.count + 1 : 0;
    const timer = setTimeout(() => this.end(name), backoff(count, FIRST_PAUSE, LONGEST_PAUSE));
    // In Node the timer alone does not keep the program running.
    (timer as { unref?: () => void }).unref?.();
    this.#waits.set(name, { number, count, timer });
  }

  /** Called when the run may have ended. */
  end(name: string): void {
    const wait = this.#waits.get(name);
    if (wait?.timer === undefined) return;
    clearTimeout(wait.timer);
    this.#waits.set(name, { ...wait, timer: undefined });
    this.#onEnd();
  }

  /** Called when the remote has the operation. */
  delete(name: string): void {
    clearTimeout(this.#waits.get(name)?.timer);
    this.#waits.delete(name);
  }

  clear(): void {
    for (const name of [...this.#waits.keys()]) this.delete(name);
  }
}
