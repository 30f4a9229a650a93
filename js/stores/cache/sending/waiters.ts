/** Who waits for the sender, and the runs for which the sender waits. */
import { backgroundTimer } from '../../../core/call/lifetime.js';
import { backoff } from '../../../core/call/scheduling.js';
import { onAbort } from '../../../core/call/time_limit.js';
import type { ServerAgent } from '../../../core/core_of.js';
import { SessionError, isSessionError } from '../../../values/errors/errors.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import { retryAfterOf } from '../../http/http_errors.js';
import { isSession, keyOfName } from '../records/cache_key.js';

interface Waiter {
  /** The number of rounds that had begun when the wait began. Only the failure of a later round ends the wait. */
  readonly round: number;
  /** Whether there is nothing left to wait for. Throws if it can never be done. */
  readonly isDone: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The calls that wait until something is sent or refused. */
export class Waiters {
  readonly #waiters = new Set<Waiter>();
  #closed: SessionError | undefined;

  get size(): number {
    return this.#waiters.size;
  }

  /**
   * @param round the number of rounds that have begun
   * @param signal ends the wait
   */
  async wait(isDone: () => boolean, round: number, signal?: HostAbortSignal): Promise<void> {
    if (signal?.aborted === true) throw abortedWait(signal);
    if (this.#closed !== undefined) throw this.#closed;
    let ignore: (() => void) | undefined;
    const done = new Promise<void>((resolve, reject) => {
      const waiter = { round, isDone, resolve, reject };
      this.#waiters.add(waiter);
      ignore =
        signal &&
        onAbort(signal, () => {
          if (this.#waiters.delete(waiter)) reject(abortedWait(signal));
        });
    });
    this.settle();
    try {
      await done;
    } finally {
      ignore?.();
    }
  }

  /** Rejects the calls that have waited since before a round. */
  reject(error: unknown, before: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.round < before && this.#waiters.delete(waiter)) waiter.reject(error);
    }
  }

  /** Rejects all calls, now and later. */
  close(reason: SessionError): void {
    this.#closed = reason;
    this.reject(reason, Infinity);
  }

  /** Ends the waits that are done. */
  settle(): void {
    for (const waiter of this.#waiters) {
      try {
        if (!waiter.isDone()) continue;
        this.#waiters.delete(waiter);
        waiter.resolve();
      } catch (error) {
        this.#waiters.delete(waiter);
        waiter.reject(error);
      }
    }
  }
}

function abortedWait({ reason }: HostAbortSignal): SessionError {
  const message =
    'The call was aborted while it waited for the remote. The change is stored locally, and is sent later.';
  return new SessionError('aborted', message, { cause: reason });
}

/**
 * The first and the longest pause in milliseconds until a mutation is sent again. A report that the run has ended
 * shortens the pause.
 */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5000;

interface RunWait {
  readonly number: number;
  /** How often the remote has said that an agent runs. */
  readonly count: number;
  /** Absent once the wait has ended. */
  readonly timer: ReturnType<typeof setTimeout> | undefined;
  /** Ends the listening for reports of the run. */
  readonly stopListening: (() => void) | undefined;
}

/**
 * Mutations that wait for a run to end: one of their session, or any one after `too_many_runs`. Waiting is no failure.
 */
export class RunWaits {
  readonly #waits = new Map<string, RunWait>();
  readonly #agent: ServerAgent | undefined;
  readonly #onEnd: () => void;

  /**
   * @param agent reports when runs end; absent if the remote has none
   * @param onEnd called when mutations may be sent again
   */
  constructor(agent: ServerAgent | undefined, onEnd: () => void) {
    this.#agent = agent;
    this.#onEnd = onEnd;
  }

  /** Whether a mutation of a session waits. */
  has(name: string, { number }: { readonly number: number }): boolean {
    const wait = this.#waits.get(name);
    return wait?.number === number && wait.timer !== undefined;
  }

  /** @param refusal why the mutation has to wait: a run of its session, or too many runs */
  begin(name: string, number: number, refusal: unknown): void {
    const earlier = this.#waits.get(name);
    if (earlier !== undefined) stop(earlier);
    const count = earlier?.number === number ? earlier.count + 1 : 0;
    const isOfAll = isSessionError(refusal, 'too_many_runs');
    const atLeast = retryAfterOf(refusal);
    const pause =
      isOfAll && atLeast > 0
        ? atLeast
        : Math.max(backoff(count, FIRST_PAUSE, LONGEST_PAUSE), atLeast);
    const timer = backgroundTimer(() => this.end(name), pause);
    const key = keyOfName(name);
    // The first report may be older than the refusal. In it, only the status `ended` is an end, and not that there is
    // no run.
    let isFirst = !isOfAll;
    const stopListening = isSession(key)
      ? this.#agent?.follow(
          isOfAll ? { appName: key.appName, userId: key.userId } : key,
          (report, isKnown) => {
            if (!isKnown || (isOfAll && report === undefined)) return;
            const hasEnded = isFirst ? report?.status === 'ended' : report?.status !== 'running';
            isFirst = false;
            if (hasEnded) this.end(name);
          },
        )
      : undefined;
    this.#waits.set(name, { number, count, timer, stopListening });
  }

  /** Called when the run may have ended. */
  end(name: string): void {
    const wait = this.#waits.get(name);
    if (wait?.timer === undefined) return;
    stop(wait);
    this.#waits.set(name, { ...wait, timer: undefined, stopListening: undefined });
    this.#onEnd();
  }

  /** Called when the remote has the mutation. */
  delete(name: string): void {
    const wait = this.#waits.get(name);
    if (wait !== undefined) stop(wait);
    this.#waits.delete(name);
  }

  clear(): void {
    for (const name of [...this.#waits.keys()]) this.delete(name);
  }
}

function stop({ timer, stopListening }: RunWait): void {
  clearTimeout(timer);
  stopListening?.();
}
