import type { CallLimit } from './call_limit.js';

/**
 * Runs the writes to one session one after another. The server has no transactions: two writes that both read
 * before either wrote would take the same position in the order. Writes of other programs are not serialised;
 * their appends still land.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after all earlier work with this name has ended, successfully or not. Rejects without running
   * it if the limit ends first.
   */
  take<T>(name: string, limit: CallLimit, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const done = before === undefined ? work() : limit.wait(before).then(work);
    const clear = (): void => {
      if (this.#last.get(name) === ended) this.#last.delete(name);
    };
    const ended = Promise.allSettled([before, done]).then(clear);
    this.#last.set(name, ended);
    return done;
  }
}
