import type { CallLimit } from '../../http/call_limit.js';

/**
 * Runs the writes to one session one after another. The server has no transactions: two writes that both read
 * before either wrote would take the same position in the order. Writes of other programs are not serialised;
 * their appends are stored too.
 */
export class SessionQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after all earlier work with this name has ended, successfully or not. Rejects without running
   * it if the limit ends first.
   */
  run<T>(name: string, limit: CallLimit, work: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(name);
    const current = previous === undefined ? work() : limit.wait(previous).then(work);
    const forget = (): void => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    };
    const settled = Promise.allSettled([previous, current]).then(forget);
    this.#last.set(name, settled);
    return current;
  }
}
