/** Ends a waiting call: at its timeout, by the caller's signal, or when the service closes. */
import type { StorageCall } from '../model/diagnostic.js';
import type { HostAbortSignal } from '../model/host.js';
import { abortedError, requireNotAborted } from '../call/call.js';
import { onAbort } from '../call/on_abort.js';
import { type HttpServer, timeoutError } from './http_errors.js';

/** The conditions that may end a call. */
export interface CallLimitOptions extends StorageCall {
  readonly server: HttpServer;
  readonly timeoutMs: number;
  /** Fires, with an error as its reason, when the closing service stops waiting. */
  readonly closed: HostAbortSignal;
}

/** The limit of one call, shared by all its requests and pauses. */
export class CallLimit {
  /** Counts a retry of a request. */
  readonly onRetry: (() => void) | undefined;
  readonly #controller = new AbortController();
  readonly #end: number;
  readonly #ignoreSignal: () => void;
  #hasBegunWrite = false;

  private constructor({ timeoutMs, signal, onRetry }: CallLimitOptions) {
    this.onRetry = onRetry;
    this.#end = Date.now() + timeoutMs;
    this.#ignoreSignal =
      signal === undefined
        ? () => undefined
        : onAbort(signal, () => this.#controller.abort(abortedError(signal)));
  }

  static async run<T>(
    options: CallLimitOptions,
    work: (limit: CallLimit) => Promise<T>,
  ): Promise<T> {
    const { server, timeoutMs, signal, closed } = options;
    requireNotAborted(signal);
    closed.throwIfAborted();
    const limit = new CallLimit(options);
    const controller = limit.#controller;
    const timeOut = (): void => controller.abort(callTimeoutError(server, timeoutMs));
    const timer = setTimeout(timeOut, timeoutMs);
    const ignoreClose = onAbort(closed, () => controller.abort(closed.reason));
    try {
      return await work(limit);
    } finally {
      clearTimeout(timer);
      ignoreClose();
      limit.#ignoreSignal();
    }
  }

  /** Milliseconds until the call's timeout. */
  get remaining(): number {
    return this.#end - Date.now();
  }

  /**
   * Ignores the caller's signal from now on: the call must report the outcome of its write. Throws if the
   * call has ended already.
   */
  beginWrite(): void {
    this.#controller.signal.throwIfAborted();
    this.#ignoreSignal();
    this.#hasBegunWrite = true;
  }

  /** Whether the call has sent a request that writes. */
  get hasBegunWrite(): boolean {
    return this.#hasBegunWrite;
  }

  /** @throws SessionError the reason, if the call ends during the pause */
  async pause(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await this.wait(new Promise<void>((done) => (timer = setTimeout(done, milliseconds))));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for work that may continue after the call has ended. */
  wait<T>(work: Promise<T>): Promise<T> {
    return raceSignal(this.#controller.signal, work);
  }

  /**
   * Runs a part of the call with a timeout of its own.
   *
   * @param makeTimeoutError makes the error for that timeout
   * @param work should stop when its signal fires
   */
  async runPart<T>(
    milliseconds: number,
    makeTimeoutError: () => unknown,
    work: (signal: HostAbortSignal) => Promise<T>,
  ): Promise<T> {
    const { signal: callSignal } = this.#controller;
    callSignal.throwIfAborted();
    const controller = new AbortController();
    // Not `AbortSignal.timeout`: its timer does not keep Node running, so the promise might never settle.
    const timer = setTimeout(() => controller.abort(makeTimeoutError()), milliseconds);
    const ignoreCallSignal = onAbort(callSignal, () => controller.abort(callSignal.reason));
    try {
      return await raceSignal(controller.signal, work(controller.signal));
    } finally {
      clearTimeout(timer);
      ignoreCallSignal();
    }
  }
}

/** Returns the outcome of the work, or rejects with the signal's reason if the signal fires first. */
export async function raceSignal<T>(signal: HostAbortSignal, work: Promise<T>): Promise<T> {
  let ignore = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else ignore = onAbort(signal, end);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    ignore();
  }
}

function callTimeoutError(server: HttpServer, timeoutMs: number): unknown {
  return timeoutError(
    server,
    `${server.name} did not finish the call within ${timeoutMs} ms. ` +
      'Try again: a stored event is not stored twice.',
  );
}
