/** One time limit over several waits. */
export class Deadline {
  readonly #passed: Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param timeoutMs milliseconds from now; `undefined`: no limit */
  constructor(timeoutMs: number | undefined) {
    this.#passed = new Promise((resolve) => {
      if (timeoutMs !== undefined) this.#timer = setTimeout(resolve, timeoutMs);
    });
  }

  /** Waits for the work, at most until the deadline. The work itself continues. */
  async until(work: unknown): Promise<void> {
    await Promise.race([work, this.#passed]);
  }

  /** Frees the timer, which would keep the program running. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}
