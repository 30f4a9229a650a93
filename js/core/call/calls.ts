import { SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import type { CallDiagnostic, HiddenMembers } from '../../values/model/diagnostic.js';
import { isPromise } from '../../values/members.js';
import type { Abortable } from '../../values/model/session.js';
import { type Call, requestError, requireNotAborted, takeRequest } from './call.js';
import type { CallFacts, Diagnostics } from './diagnostics.js';
import { holdProgram } from './lifetime.js';

/**
 * The calls of one service. Counts the pending calls, and refuses new ones once the service is
 * closed.
 */
export class Calls {
  /**
   * Whether a caller's function computes a delta. A call meanwhile is refused: it would end or share the transaction.
   */
  isComputing = false;
  readonly #diagnostics: Diagnostics | undefined;
  readonly #beginCall: (() => object) | undefined;
  readonly #pending = new Map<Promise<unknown>, CallDiagnostic['method']>();
  #isClosed = false;
  /** Called when no call is pending. */
  #onIdle: (() => void) | undefined;
  /** Present while pending calls keep the program running. */
  #releaseProgram: (() => void) | undefined;

  /**
   * @param diagnostics absent: nobody listens
   * @param beginCall returns the `store` of a call; absent: calls have none
   */
  constructor(diagnostics: Diagnostics | undefined, beginCall?: () => object) {
    this.#diagnostics = diagnostics;
    this.#beginCall = beginCall;
  }

  /** The methods of the calls that have not settled. */
  get pending(): readonly CallDiagnostic['method'][] {
    return [...this.#pending.values()];
  }

  /** The calls of some methods that have not settled. */
  pendingOf(methods: readonly CallDiagnostic['method'][]): Promise<unknown>[] {
    return [...this.#pending].flatMap(([call, method]) => (methods.includes(method) ? call : []));
  }

  /** Runs a method at once, with a copy of the request's members. */
  run<Request extends object, T>(
    method: CallDiagnostic['method'],
    request: Request,
    work: (request: Request, call: Call) => T | Promise<T>,
  ): Promise<T> {
    const facts: CallFacts | undefined = this.#diagnostics && { retries: 0 };
    const report = facts && this.#diagnostics?.begin(method, facts);
    try {
      const ownRequest = this.begin(request);
      const { signal, reads } = ownRequest as Pick<Call, 'signal'> & HiddenMembers;
      const store = this.#beginCall?.();
      const onRetry = facts && ((): void => void (facts.retries += 1));
      // One literal: its shape is known wherever the call is read, and it takes less time than a spread.
      const result = work(ownRequest, { signal, reads, facts, store, onRetry });
      if (isPromise(result)) {
        if (report !== undefined) result.then(report.succeed, report.fail);
        this.#wait(result, method);
        return result;
      }
      report?.succeed(result);
      return Promise.resolve(result);
    } catch (thrown) {
      const error = requestError(thrown);
      report?.fail(error);
      return Promise.reject(error);
    }
  }

  /** Begins an iteration, with a copy of the request's members. A refusal is thrown at the first step. */
  walk<Request extends object, T>(
    request: Request,
    begin: (request: Request) => AsyncGenerator<T, void, undefined>,
  ): AsyncGenerator<T, void, undefined> {
    try {
      return begin(this.begin(request));
    } catch (error) {
      return failedWalk(error);
    }
  }

  /** Checks that a call can be made. @returns a copy of the request's members */
  begin<Request extends object>(request: Request): Request {
    this.requireOpen();
    if (this.isComputing) throw invalid('stateDelta', 'must not call the service');
    const ownRequest = takeRequest(request);
    requireNotAborted((ownRequest as Abortable).signal);
    return ownRequest;
  }

  requireOpen(): void {
    if (!this.#isClosed) return;
    throw new SessionError('closed', 'This session service was closed; open another one.');
  }

  #wait(call: Promise<unknown>, method: CallDiagnostic['method']): void {
    this.#releaseProgram ??= holdProgram();
    this.#pending.set(call, method);
    const forget = (): void => {
      this.#pending.delete(call);
      if (this.#pending.size > 0) return;
      this.end();
      this.#onIdle?.();
    };
    call.then(forget, forget);
  }

  /** Lets the program end, although calls are pending: a close has given them up. */
  end(): void {
    this.#releaseProgram?.();
    this.#releaseProgram = undefined;
  }

  /** Refuses new calls, and waits for the pending ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#pending.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }
}

// eslint-disable-next-line require-yield, @typescript-eslint/require-await
async function* failedWalk(error: unknown): AsyncGenerator<never, void, undefined> {
  throw error;
}
