/** The limits of calls over HTTP, and of a service that closes. */
import { abortedError, requireNotAborted } from '../../core/call/call.js';
import { raceSignal, TimeLimit } from '../../core/call/time_limit.js';
import { SessionError } from '../../values/errors/errors.js';
import type { StorageCall } from '../../values/model/diagnostic.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import { type HttpServer, timeoutError } from './http_errors.js';

// Ends a waiting call: at its timeout, by the caller's signal, or when the service closes.

/** The conditions that may end a call. */
export interface CallLimitOptions extends StorageCall {
  readonly server: HttpServer;
  readonly timeoutMs: number;
  /** Fires, with an error as its reason, when the closing service stops waiting. */
  readonly closed: HostAbortSignal;
}

/** The limit of one call, shared by all its requests and pauses. */
export class CallLimit extends TimeLimit {
  readonly #options: CallLimitOptions;
  #end: number;
  readonly #ignoreSignal: (() => void) | undefined;
  #hasBegunWrite = false;

  private constructor(options: CallLimitOptions) {
    const { server, timeoutMs, closed, signal } = options;
    super(timeoutMs, () => callTimeoutError(server, timeoutMs));
    this.#options = options;
    this.#end = Date.now() + timeoutMs;
    this.follow(closed);
    this.#ignoreSignal = signal && this.follow(signal, () => abortedError(signal));
  }

  static async run<T>(
    options: CallLimitOptions,
    work: (limit: CallLimit) => Promise<T>,
  ): Promise<T> {
    requireNotAborted(options.signal);
    options.closed.throwIfAborted();
    const limit = new CallLimit(options);
    try {
      return await work(limit);
    } finally {
      limit.end();
    }
  }

  /** Counts a retry of a request. */
  countRetry(): void {
    this.#options.onRetry?.();
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
    this.signal.throwIfAborted();
    this.#ignoreSignal?.();
    this.#hasBegunWrite = true;
  }

  /** Whether the call has sent a request that writes. */
  get hasBegunWrite(): boolean {
    return this.#hasBegunWrite;
  }

  /** @throws SessionError the reason, if the call ends during the pause */
  pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, this.signal);
  }

  /**
   * Runs a part of the call with a timeout of its own.
   *
   * @param makeTimeoutError makes the error for that timeout
   * @param work should stop when its signal fires. It may extend the timeouts, of the part and of the call
   */
  async runPart<T>(
    milliseconds: number,
    makeTimeoutError: () => unknown,
    work: (signal: HostAbortSignal, extend: (milliseconds: number) => void) => Promise<T>,
  ): Promise<T> {
    this.signal.throwIfAborted();
    const part = new TimeLimit(milliseconds, makeTimeoutError);
    part.follow(this.signal);
    let end = Date.now() + milliseconds;
    const extend = (more: number): void => {
      end += more;
      this.#end += more;
      part.start(end - Date.now());
      this.start(this.remaining);
    };
    try {
      return await part.race(work(part.signal, extend));
    } finally {
      part.end();
    }
  }
}

/** Waits. Rejects with the signal's reason if it fires meanwhile. */
export async function pause(milliseconds: number, signal: HostAbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await raceSignal(signal, new Promise<void>((done) => (timer = setTimeout(done, milliseconds))));
  } finally {
    clearTimeout(timer);
  }
}

function callTimeoutError(server: HttpServer, timeoutMs: number): unknown {
  return timeoutError(
    server,
    `${server.name} did not finish the call within ${timeoutMs} ms. ` +
      'Try again: a stored event is not stored twice.',
  );
}

// Closes a service: pending calls may finish as long as the server keeps answering.

/** Milliseconds without a successful response after which a closing service aborts its pending calls. */
const CLOSE_TIMEOUT_MS = 5000;

/**
 * Returns the limit of a service's pending calls. It starts when the service closes, each successful response restarts
 * it, and its signal fires when the service stops waiting.
 */
export function closeLimit(server: HttpServer): TimeLimit {
  return new TimeLimit(undefined, () => closedError(server));
}

/** @param timeoutMs at most so many milliseconds */
export function startClosing(limit: TimeLimit, timeoutMs = CLOSE_TIMEOUT_MS): void {
  limit.start(Math.min(timeoutMs, CLOSE_TIMEOUT_MS));
}

function closedError({ name, storage }: HttpServer): SessionError {
  return new SessionError(
    'closed',
    `The service was closed before ${name} responded. An append may be stored; ` +
      'repeat it with another service: a stored event is not stored twice.',
    { storage },
  );
}
