import { SessionError } from '../errors/errors.js';
import type { Abortable } from '../model/session.js';
import { type MaybePromise, refusalOf, requireNotAborted, takeRequest } from './call.js';

/**
 * The calls of one service. Counts the pending calls, and refuses new ones once the service is
 * closed.
 */
export class Calls {
  readonly #pending = new Set<Promise<unknown>>();
  #isClosed = false;

  /**
   * Runs a method at once with the request's own members, so that everything is taken at the call.
   */
  answer<Request extends Abortable, T>(
    request: Request,
    run: (request: Request) => MaybePromise<T>,
  ): Promise<T> {
    try {
      const answer = run(this.take(request));
      return answer instanceof Promise ? this.wait(answer) : Promise.resolve(answer);
    } catch (error) {
      return Promise.reject(refusalOf(error));
    }
  }

  /** Checks that a call can be made. @returns the request's own members */
  take<Request extends Abortable>(request: Request): Request {
    this.requireOpen();
    const taken = takeRequest(request);
    requireNotAborted(taken.signal);
    return taken;
  }

  requireOpen(): void {
    if (!this.#isClosed) return;
    throw new SessionError('closed', 'This session service was closed; open another one.');
  }

  /** Counts the promise as pending until it settles. */
  wait<T>(answer: Promise<T>): Promise<T> {
    this.#pending.add(answer);
    const settled = (): boolean => this.#pending.delete(answer);
    answer.then(settled, settled);
    return answer;
  }

  /** Refuses new calls, and waits for the pending ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }
}
