import { onAbort } from '../../call/on_abort.js';
import { SessionError } from '../../errors/errors.js';
import type { HostAbortSignal } from '../../model/host.js';
import type { Unsent } from '../copies/unsent.js';
import { type CacheKey, nameOf } from '../records/cache_key.js';

interface Waiter {
  /** The number of the run that was under way, whose failure says nothing about a later one. */
  readonly run: number;
  readonly names: Set<string>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The calls that wait until something is sent or set aside. */
export class Waiters {
  readonly #unsent: Unsent;
  readonly #waiters = new Set<Waiter>();

  constructor(unsent: Unsent) {
    this.#unsent = unsent;
    unsent.onChange = () => this.#settle();
  }

  get size(): number {
    return this.#waiters.size;
  }

  /**
   * @param run the number of runs that have begun
   * @param signal ends the wait
   */
  async wait(keys: readonly CacheKey[], run: number, signal?: HostAbortSignal): Promise<void> {
    if (signal?.aborted === true) throw abortedWait(signal);
    const names = new Set(keys.map(nameOf));
    let ignore: (() => void) | undefined;
    const done = new Promise<void>((resolve, reject) => {
      const waiter = { run, names, resolve, reject };
      this.#waiters.add(waiter);
      ignore =
        signal &&
        onAbort(signal, () => {
          if (this.#waiters.delete(waiter)) reject(abortedWait(signal));
        });
    });
    this.#settle();
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

  #settle(): void {
    for (const waiter of this.#waiters) {
      for (const name of waiter.names) if (!this.#unsent.isReady(name)) waiter.names.delete(name);
      if (waiter.names.size === 0 && this.#waiters.delete(waiter)) waiter.resolve();
    }
  }
}

function abortedWait({ reason }: HostAbortSignal): SessionError {
  const message =
    'The call was aborted while it waited for the remote. The change is stored locally, and is sent later.';
  return new SessionError('aborted', message, { cause: reason });
}
