/** Runs work one after the other for each key, and work for different keys at once. */
export class KeyedQueue<Key = string> {
  /** Resolves when the last work of a key has settled. */
  readonly #last = new Map<Key, Promise<unknown>>();

  /**
   * Runs work when the earlier work of its key has settled, whether that failed or not.
   *
   * @param wait waits for the earlier work. If it rejects, the work does not run.
   */
  run<T>(
    key: Key,
    work: () => Promise<T>,
    wait = (earlier: Promise<unknown>): Promise<unknown> => earlier,
  ): Promise<T> {
    const earlier = this.#last.get(key) ?? Promise.resolve();
    const result = wait(earlier).then(work);
    const settled = Promise.allSettled([earlier, result]).then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    this.#last.set(key, settled);
    return result;
  }

  /** Waits for the work of a key that was given so far. */
  async settledOf(key: Key): Promise<void> {
    await this.#last.get(key);
  }

  /** Waits for the work that was given so far. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }

  /** Waits until no work is left. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await this.settled();
  }
}
