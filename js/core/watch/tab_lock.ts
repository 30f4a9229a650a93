/** Locks between tabs. A page without a secure context has no Web Locks; Node 24 has them, but no tabs. */
import { KeyedQueue } from '../call/scheduling.js';
import { endsWithin, TimeLimit } from '../call/time_limit.js';
import type { HostAbortSignal } from '../../values/model/host.js';

/** A Web Lock, which one tab holds at a time. */
export class TabLock {
  readonly #name: string;
  readonly #locks: LockManager | undefined;
  /** Without Web Locks, it excludes work of this realm. */
  readonly #ofRealm = new KeyedQueue<undefined>();

  /** @param name `undefined` if no other tab shares what the lock protects */
  constructor(name: string | undefined) {
    const { navigator } = globalThis as { readonly navigator?: { readonly locks?: LockManager } };
    this.#name = name ?? '';
    this.#locks = name === undefined ? undefined : navigator?.locks;
  }

  /** Whether other tabs take the same lock. */
  get isShared(): boolean {
    return this.#locks !== undefined;
  }

  /**
   * Does the work while no other tab holds the lock. Without Web Locks, only work through this object excludes each
   * other.
   *
   * @throws DOMException `AbortError` (as a rejection) if another tab takes the lock away; the work goes on
   */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#locks === undefined) return this.#ofRealm.run(undefined, work);
    // By the types of the DOM, `request` resolves to the promise that the work returns.
    return await this.#locks.request(this.#name, work);
  }

  /**
   * Does the work while no other tab holds the lock. Does it without the lock if there are no Web Locks, or if another
   * tab keeps the lock for longer.
   *
   * @param patienceMs how long to wait for other tabs, which the browser may have frozen. Absent: until they have ended
   */
  async holdOrProceed<T>(work: () => Promise<T>, patienceMs?: number): Promise<T> {
    if (this.#locks === undefined) return work();
    const patience = new TimeLimit(patienceMs);
    let running: Promise<T> | undefined;
    try {
      return await this.#locks.request(this.#name, { signal: patience.signal }, () => {
        patience.stopTimer();
        return (running = work());
      });
    } catch (error) {
      // In WebKit a page that is left loses its locks. What it runs goes on.
      if (running !== undefined) return running;
      if (patience.signal.aborted) return work();
      throw error;
    } finally {
      patience.end();
    }
  }

  /** Does the work while others share the lock in the same way. Without Web Locks, it only does the work. */
  async share<T>(work: () => Promise<T>): Promise<T> {
    if (this.#locks === undefined) return work();
    return await this.#locks.request(this.#name, { mode: 'shared' }, work);
  }

  /** Asks the browser who holds locks, and takes none. Chromium discards frozen pages that hold one. */
  async ask(): Promise<void> {
    await this.#locks?.query();
  }

  /** Does the work at once: takes the lock away from a tab that still holds it. */
  async take<T>(work: () => Promise<T>): Promise<T> {
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
