import { onAbort } from '../../../core/call/on_abort.js';
import { SessionError } from '../../../values/errors/errors.js';
import type { HostAbortSignal } from '../../../values/model/host.js';

interface Waiter {
  /** The number of runs that had begun when the wait began. Only the failure of a later run ends the wait. */
  readonly run: number;
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
   * @param run the number of runs that have begun
   * @param signal ends the wait
   */
  async wait(isDone: () => boolean, run: number, signal?: HostAbortSignal): Promise<void> {
    if (signal?.aborted === true) throw abortedWait(signal);
    if (this.#closed !== undefined) throw this.#closed;
    let ignore: (() => void) | undefined;
    const done = new Promise<void>((resolve, reject) => {
      const waiter = { run, isDone, resolve, reject };
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

  /** Rejects the calls that have waited since before a run. */
  reject(error: unknown, before: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.run < before && this.#waiters.delete(waiter)) waiter.reject(error);
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
