import type { CallLimit } from './call_limit.js';

/**
 * Writes to one session, one after the other: the server knows no transaction, so that of two which read
 * before either wrote, each would take the other's place in the order. Between programs nothing keeps them
 * apart; there an append still lands, whoever else does.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Works when all that had the same name before has ended, however it did; or not, where the limit ends first. */
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
