/** One time limit over several waits. */
export class Deadline {
  readonly #passed: Promise<false>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param timeoutMs milliseconds from now; `undefined`: no limit */
  constructor(timeoutMs: number | undefined) {
    this.#passed = new Promise((resolve) => {
      if (timeoutMs !== undefined) this.#timer = setTimeout(resolve, timeoutMs, false);
    });
  }

  /**
   * Waits for the work, at most until the deadline. The work itself continues.
   *
   * @returns whether the work ended before the deadline
   */
  async until(work: unknown): Promise<boolean> {
    const ended = Promise.resolve(work).then(() => true);
    return Promise.race([ended, this.#passed]);
  }

  /** Frees the timer, which would keep the program running. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}
