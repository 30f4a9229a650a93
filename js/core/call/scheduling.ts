/** When work runs: one after the other for each key, again after a pause, and in parts that let other tasks run. */

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

/**
 * Returns how long to wait before the next attempt. The pause doubles with each attempt. Half of it
 * is random, so that callers who collided once do not collide again.
 *
 * @param attempt 0 after the first attempt, 1 after the second, and so on
 * @param first milliseconds of the first pause, at most
 * @param longest milliseconds of the longest pause
 * @returns milliseconds, from half of the pause to the whole pause
 */
export function backoff(attempt: number, first: number, longest: number): number {
  const pause = Math.min(longest, first * 2 ** attempt);
  return pause * (0.5 + Math.random() / 2);
}

/** The most events that a long computation handles before it pauses. */
export const EVENTS_PER_TASK = 1000;

/**
 * Lets other tasks of the program run. Awaiting a promise is not enough: its continuation comes before them. Browsers have
 * no immediates; a timer of Node would wait for a millisecond.
 */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve);
  });
}

/**
 * Maps a long list in several tasks, so that others run between them. `map` gets up to {@link EVENTS_PER_TASK} items.
 */
export async function mapInTasks<Item, Result>(
  items: readonly Item[],
  map: (items: readonly Item[]) => readonly Result[],
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += EVENTS_PER_TASK) {
    if (start > 0) await nextTask();
    results.push(...map(items.slice(start, start + EVENTS_PER_TASK)));
  }
  return results;
}
