/** Limits waits by timeouts and by signals. */
import type { HostAbortSignal } from '../../values/model/host.js';
import { abortedError, requireNotAborted } from './call.js';
import { reportUncaught } from './diagnostics.js';

/**
 * The callbacks of each signal. They share one event listener, because Node warns of more than ten.
 */
const listenersBySignal = new WeakMap<HostAbortSignal, Set<() => void>>();

/**
 * Calls a listener when a signal fires. Does not call it if the signal has fired already.
 *
 * @returns a function that stops listening
 */
export function onAbort(signal: HostAbortSignal, listener: () => void): () => void {
  const listeners = listenersBySignal.get(signal) ?? listenTo(signal);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** As a signal does, it reports what a listener throws, so that the others are called too. */
function callListener(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    reportUncaught(error);
  }
}

function listenTo(signal: HostAbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  const fire = (): void => {
    for (const listener of listeners) {
      // A signal that is not the host's own may fire again.
      listeners.delete(listener);
      callListener(listener);
    }
  };
  signal.addEventListener('abort', fire);
  listenersBySignal.set(signal, listeners);
  return listeners;
}

/** Makes the reason of a limit that fires, from its timeout in milliseconds. */
type MakeReason = (timeoutMs: number) => unknown;

/** A limit of waits: it fires after some time, or when a signal fires that it follows. */
export class TimeLimit {
  readonly #makeReason: MakeReason | undefined;
  readonly #received: (() => number) | undefined;
  #lastReceived: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeoutMs = 0;
  readonly #ignored: (() => void)[] = [];
  /** What the limit calls when it fires: it ends waits, and tells who listens to its signal. */
  readonly #waits = new Set<() => void>();
  #firing: { readonly reason: unknown } | undefined;
  /** Made when somebody asks for the signal: most limits only end waits. */
  #controller: AbortController | undefined;

  /**
   * @param timeoutMs milliseconds from now; `undefined`: no timeout, until `start`
   * @param makeReason makes the reason for the timeout; absent: that of `AbortController`
   * @param received returns a number that grows with everything that arrives. The timeout counts from the last arrival
   */
  constructor(timeoutMs: number | undefined, makeReason?: MakeReason, received?: () => number) {
    this.#makeReason = makeReason;
    this.#received = received;
    this.#lastReceived = received?.();
    if (timeoutMs !== undefined) this.start(timeoutMs);
  }

  /** Begins the timeout. */
  start(timeoutMs: number): void {
    this.stopTimer();
    this.#timeoutMs = timeoutMs;
    // Not `AbortSignal.timeout`: its timer does not keep Node running, so a promise might never settle.
    this.#timer = setTimeout(() => this.#onTimeout(), timeoutMs);
  }

  #onTimeout(): void {
    const before = this.#lastReceived;
    this.#lastReceived = this.#received?.();
    if (this.#lastReceived === before) this.expire();
    else this.restart();
  }

  /** Begins the timeout again, if one is running. */
  restart(): void {
    if (this.#timer !== undefined) this.start(this.#timeoutMs);
  }

  /** Fires at once, as at the timeout. */
  expire(): void {
    this.stopTimer();
    this.#fire(this.#makeReason?.(this.#timeoutMs));
  }

  /** Fires at once, with the reason of `AbortController`. */
  abort(): void {
    this.#fire(undefined);
  }

  #fire(reason: unknown): void {
    if (this.#firing !== undefined) return;
    this.#firing = { reason };
    this.#controller?.abort(reason);
    for (const end of this.#waits) callListener(end);
  }

  get hasFired(): boolean {
    return this.#firing !== undefined;
  }

  get signal(): HostAbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // The limit itself calls the listeners of its signal: an event listener for each request takes microseconds.
      listenersBySignal.set(this.#controller.signal, this.#waits);
      if (this.#firing !== undefined) this.#controller.abort(this.#firing.reason);
    }
    return this.#controller.signal;
  }

  /**
   * Fires when the other signal fires, also if it has fired already.
   *
   * @param makeReason makes the reason; absent: that of the other signal
   * @param isHeeded whether a signal that fires counts; absent: always
   * @returns a function that ends this
   */
  follow(
    other: HostAbortSignal,
    makeReason = (): unknown => other.reason,
    isHeeded = (): boolean => true,
  ): () => void {
    const fire = (): void => {
      if (isHeeded()) this.#fire(makeReason());
    };
    if (other.aborted) fire();
    const ignore = onAbort(other, fire);
    this.#ignored.push(ignore);
    return ignore;
  }

  /** Ends the timeout. The signals are still followed. */
  stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Returns the outcome of the work, or rejects with the reason if the limit fires first. The work itself continues.
   */
  race<T>(work: T | PromiseLike<T>): Promise<T> {
    return this.#unlessFired(work, () =>
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      Promise.reject(this.#firing?.reason ?? this.signal.reason),
    );
  }

  /**
   * Waits for the work, at most until the limit fires. The work itself continues.
   *
   * @returns whether the work ended before
   */
  until(work: unknown): Promise<boolean> {
    return this.#unlessFired<boolean>(
      Promise.resolve(work).then(() => true),
      () => false,
    );
  }

  async #unlessFired<T>(work: T | PromiseLike<T>, onFire: () => T | PromiseLike<T>): Promise<T> {
    let end!: () => void;
    const fired = new Promise<void>((resolve) => (end = resolve)).then(onFire);
    if (this.#firing === undefined) this.#waits.add(end);
    else end();
    try {
      return await Promise.race([work, fired]);
    } finally {
      this.#waits.delete(end);
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
 * @throws SessionError `aborted` if the signal fires first
 */
export async function endsWithin(
  timeoutMs: number | undefined,
  work: unknown,
  signal?: HostAbortSignal,
): Promise<boolean> {
  const limit = new TimeLimit(timeoutMs);
  if (signal !== undefined) limit.follow(signal);
  try {
    const hasEnded = await limit.until(work);
    if (!hasEnded) requireNotAborted(signal);
    return hasEnded;
  } finally {
    limit.end();
  }
}

/**
 * Returns the outcome of the work, or rejects if the signal fires first. The work itself continues. If it fails then,
 * that is no unhandled rejection.
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
  run: () => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const ignore = signal && onAbort(signal, () => reject(abortedError(signal)));
    const begin = (): T | Promise<T> => {
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
