import { SessionError } from '../errors/errors.js';
import type { Abortable } from '../model/session.js';
import { type MaybePromise, requestError, requireNotAborted, copyRequest } from './call.js';

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
  run<Request extends Abortable, T>(
    request: Request,
    work: (request: Request) => MaybePromise<T>,
  ): Promise<T> {
    try {
      const result = work(this.begin(request));
      return result instanceof Promise ? this.track(result) : Promise.resolve(result);
    } catch (error) {
      return Promise.reject(requestError(error));
    }
  }

  /** Checks that a call can be made. @returns the request's own members */
  begin<Request extends Abortable>(request: Request): Request {
    this.requireOpen();
    const ownRequest = copyRequest(request);
    requireNotAborted(ownRequest.signal);
    return ownRequest;
  }

  requireOpen(): void {
    if (!this.#isClosed) return;
    throw new SessionError('closed', 'This session service was closed; open another one.');
  }

  /** Counts the promise as pending until it settles. */
  track<T>(answer: Promise<T>): Promise<T> {
    this.#pending.add(answer);
    const forget = (): boolean => this.#pending.delete(answer);
    answer.then(forget, forget);
    return answer;
  }

  /** Refuses new calls, and waits for the pending ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }
}
