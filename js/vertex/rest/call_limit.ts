/** What ends a call that waits: its time limit, the caller's signal, and the service's close. */
import { abortedError, requireNotAborted } from '../../call/call.js';
import { onAbort } from '../../call/on_abort.js';
import { timedOut } from './failure.js';

/** What may end a call. */
export interface CallEnds {
  readonly timeoutMs: number;
  /** The caller's. */
  readonly signal?: AbortSignal | undefined;
  /** Fires, with an error as its reason, when the service waits no longer. */
  readonly closed: AbortSignal;
}

/** The limit of one call, which all its requests and pauses share. */
export class CallLimit {
  readonly #controller = new AbortController();
  readonly #end: number;
  readonly #ignoreSignal: () => void;

  private constructor({ timeoutMs, signal }: CallEnds) {
    this.#end = Date.now() + timeoutMs;
    this.#ignoreSignal =
      signal === undefined
        ? () => undefined
        : onAbort(signal, () => this.#controller.abort(abortedError(signal)));
  }

  static async during<T>(ends: CallEnds, work: (limit: CallLimit) => Promise<T>): Promise<T> {
    const { timeoutMs, signal, closed } = ends;
    requireNotAborted(signal);
    closed.throwIfAborted();
    const limit = new CallLimit(ends);
    const controller = limit.#controller;
    const timer = setTimeout(() => controller.abort(overdue(timeoutMs)), timeoutMs);
    const ignoreClose = onAbort(closed, () => controller.abort(closed.reason));
    try {
      return await work(limit);
    } finally {
      clearTimeout(timer);
      ignoreClose();
      limit.#ignoreSignal();
    }
  }

  /** Milliseconds until the call's time is over. */
  get remaining(): number {
    return this.#end - Date.now();
  }

  /** From now on the caller's signal is not heeded: the call tells what became of its write. */
  beginWrite(): void {
    this.#controller.signal.throwIfAborted();
    this.#ignoreSignal();
  }

  /** @throws SessionError why the call ended meanwhile */
  async pause(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await this.wait(new Promise<void>((done) => (timer = setTimeout(done, milliseconds))));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for work that may go on when the call has ended. */
  wait<T>(work: Promise<T>): Promise<T> {
    return before(this.#controller.signal, work);
  }

  /**
   * Runs a part of the call that has a limit of its own.
   *
   * @param late makes the error for the end of its time
   * @param work ends when its signal fires, if it can
   */
  async part<T>(
    milliseconds: number,
    late: () => unknown,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { signal: whole } = this.#controller;
    whole.throwIfAborted();
    const controller = new AbortController();
    // Not the timer of a signal: that one lets Node end with the promise unsettled.
    const timer = setTimeout(() => controller.abort(late()), milliseconds);
    const ignoreWhole = onAbort(whole, () => controller.abort(whole.reason));
    try {
      return await before(controller.signal, work(controller.signal));
    } finally {
      clearTimeout(timer);
      ignoreWhole();
    }
  }
}

/** The outcome of the work, or a rejection with the signal's reason if that fires first. */
async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let ignore = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else ignore = onAbort(signal, end);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    ignore();
  }
}

function overdue(timeoutMs: number): unknown {
  return timedOut(
    `Vertex AI did not finish the call within ${timeoutMs} ms. ` +
      'Try again: an append that was stored after all is not stored twice.',
  );
}
