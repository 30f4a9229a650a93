/** Ends of a wait: a timeout, and the signals of others. */
import type { HostAbortSignal } from '../model/host.js';
import { abortedError, type MaybePromise, requireNotAborted } from './call.js';
import { onAbort } from './on_abort.js';

/** A signal that fires after some time, or when a signal fires that it follows. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #makeReason: (() => unknown) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeoutMs = 0;
  readonly #ignored: (() => void)[] = [];

  /**
   * @param timeoutMs milliseconds from now; `undefined`: no timeout, until `start`
   * @param makeReason makes the reason of the signal for the timeout; absent: that of `AbortController`
   */
  constructor(timeoutMs: number | undefined, makeReason?: () => unknown) {
    this.#makeReason = makeReason;
    if (timeoutMs !== undefined) this.start(timeoutMs);
  }

  /** Begins the timeout. */
  start(timeoutMs: number): void {
    this.stopTimer();
    this.#timeoutMs = timeoutMs;
    // Not `AbortSignal.timeout`: its timer does not keep Node running, so a promise might never settle.
    this.#timer = setTimeout(() => this.expire(), timeoutMs);
  }

  /** Begins the timeout again, if one is running. */
  restart(): void {
    if (this.#timer !== undefined) this.start(this.#timeoutMs);
  }

  /** Fires at once, as at the timeout. */
  expire(): void {
    this.stopTimer();
    this.#controller.abort(this.#makeReason?.());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Fires when the other signal fires, also if it has fired already.
   *
   * @param makeReason makes the reason; absent: that of the other signal
   * @returns a function that ends this
   */
  follow(other: HostAbortSignal, makeReason = (): unknown => other.reason): () => void {
    const fire = (): void => this.#controller.abort(makeReason());
    if (other.aborted) fire();
    const ignore = onAbort(other, fire);
    this.#ignored.push(ignore);
    return ignore;
  }

  /** Fires at once, unless the signal has fired. */
  abort(): void {
    this.#controller.abort();
  }

  /** Ends the timeout. The signals are still followed. */
  stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Waits for the work, at most until the signal fires. The work itself continues.
   *
   * @returns whether the work ended before
   */
  async until(work: unknown): Promise<boolean> {
    const ended = Promise.resolve(work).then(() => true);
    let ignore = (): void => undefined;
    const fired = new Promise<false>((resolve) => {
      if (this.signal.aborted) resolve(false);
      else ignore = onAbort(this.signal, () => resolve(false));
    });
    try {
      return await Promise.race([ended, fired]);
    } finally {
      ignore();
    }
  }

  /** Frees the timer and the signals. */
  end(): void {
    this.stopTimer();
    for (const ignore of this.#ignored) ignore();
  }
}

/**
 * Waits for the work, but not for longer than the timeout. The work itself continues.
 *
 * @param timeoutMs milliseconds; `undefined`: no limit
 * @returns whether the work ended in time
 */
export async function endsWithin(timeoutMs: number | undefined, work: unknown): Promise<boolean> {
  const limit = new TimeLimit(timeoutMs);
  try {
    return await limit.until(work);
  } finally {
    limit.end();
  }
}

/**
 * Returns the outcome of the work, or rejects if the signal fires first.
 *
 * @param makeReason makes the error; absent: the signal's reason
 */
export async function raceSignal<T>(
  signal: HostAbortSignal,
  work: T | PromiseLike<T>,
  makeReason = (): unknown => signal.reason,
): Promise<T> {
  let ignore = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const end = (): void => reject(makeReason());
    if (signal.aborted) end();
    else ignore = onAbort(signal, end);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    ignore();
  }
}

/** Waits for work that writes nothing. Rejects with `aborted` as soon as the signal fires. */
export async function untilAborted<T>(
  signal: HostAbortSignal | undefined,
  work: T | PromiseLike<T>,
): Promise<T> {
  return signal === undefined ? work : raceSignal(signal, work, () => abortedError(signal));
}

/**
 * Runs a call after a wait, unless the signal fires during the wait. Calls that wait for the same promise run in the
 * order in which they came, with a signal or without.
 */
export function runAfter<T>(
  signal: HostAbortSignal | undefined,
  wait: Promise<unknown>,
  run: () => MaybePromise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const ignore = signal && onAbort(signal, () => reject(abortedError(signal)));
    const begin = (): MaybePromise<T> => {
      ignore?.();
      requireNotAborted(signal);
      return run();
    };
    const fail = (error: unknown): void => {
      ignore?.();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(error);
    };
    wait.then(begin).then(resolve, fail);
  });
}
