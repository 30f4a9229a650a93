import { KeyedQueue } from '../../../core/call/keyed_queue.js';
import { endsWithin } from '../../../core/call/time_limit.js';
import type { HostAbortSignal } from '../../../values/model/host.js';

/** The part of a browser's `LockManager` that is used here. */
export type Locks = Pick<LockManager, 'request' | 'query'>;

/**
 * Lets one run of a session take place at a time, in all tabs that share its database. Without Web Locks, or without a
 * shared database, only the runs of this realm exclude each other.
 */
export class RunLock {
  readonly #name: string;
  readonly #locks: Locks | undefined;
  readonly #ofRealm = new KeyedQueue<undefined>();

  /** @param name names the database and the session; `undefined` if no other tab shares them */
  constructor(name: string | undefined, locks = currentLocks()) {
    this.#name = name ?? '';
    this.#locks = name === undefined ? undefined : locks;
  }

  /** Whether other tabs take the same lock. */
  get isShared(): boolean {
    return this.#locks !== undefined;
  }

  /** Does the work while no other tab holds the lock. */
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#ofRealm.run(undefined, async () => {
      if (this.#locks === undefined) return work();
      // By the types of the DOM, `request` resolves to the promise that the work returns.
      return await this.#locks.request(this.#name, work);
    });
  }

  /** Does the work at once: takes the lock away from a tab that still holds it. */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#locks === undefined) return work();
    return await this.#locks.request(this.#name, { steal: true }, work);
  }

  /** Whether this tab or another one holds the lock now. */
  async isHeld(): Promise<boolean> {
    const { held = [] } = (await this.#locks?.query()) ?? {};
    return held.some(({ name, mode }) => name === this.#name && mode === 'exclusive');
  }

  /** Calls `run` once no tab holds the lock, unless the signal fires before. */
  onRelease(run: () => void, signal: HostAbortSignal): void {
    if (this.#locks === undefined) return run();
    // All tabs that wait get a shared lock at the same time, and give it back at once.
    const released = this.#locks.request(this.#name, { mode: 'shared', signal }, () => undefined);
    released.then(run, () => undefined);
  }

  /** Waits until no tab holds the lock, at most so many milliseconds. Returns whether it was released. */
  async released(timeoutMs: number): Promise<boolean> {
    const waiting = new AbortController();
    const released = new Promise<void>((resolve) => this.onRelease(resolve, waiting.signal));
    const isReleased = await endsWithin(timeoutMs, released);
    waiting.abort();
    return isReleased;
  }
}

/** Returns the Web Locks of the host. A page without a secure context has none. Node 24 has them, but no tabs. */
function currentLocks(): Locks | undefined {
  const { navigator } = globalThis as { navigator?: { readonly locks?: Locks } };
  return navigator?.locks;
}
