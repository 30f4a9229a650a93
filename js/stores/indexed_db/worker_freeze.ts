/**
 * Keeps a frozen worker from blocking the transactions of other pages.
 *
 * A browser freezes the dedicated and shared workers of a page together with the page, and sends them no event. A
 * transaction that is open then stays open: `page_hide.ts` cannot abort it. So a worker holds a Web Lock meanwhile.
 * Firefox does not put its page into the back/forward cache. Chromium does, and discards a page with a lock as soon as
 * anybody asks for the locks. WebKit freezes it all the same: its transaction blocks until the page is shown or discarded.
 */
import { TabLock } from '../../core/watch/tab_lock.js';
import { isChromium } from './log_turnover.js';

/** How long a worker holds the lock after its last call, in milliseconds. So a burst of calls takes it once. */
const LINGER_MS = 1000;
/** How long a call waits before it asks for the locks, in milliseconds, and between two of its questions. */
const PATIENCE_MS = 1000;

/** The lock of a database. All workers share it, so nobody waits for it. */
class DatabaseLock {
  readonly #lock: TabLock;
  /** The number of calls that run. */
  #calls = 0;
  #release: (() => void) | undefined;
  #lingering: ReturnType<typeof setTimeout> | undefined;

  constructor(database: string) {
    this.#lock = new TabLock(`adk-session-wasm:transactions:${database}`);
  }

  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const holds = isFrozenUnasked();
    if (holds) this.#hold();
    const asking = setInterval(() => void this.#lock.ask().catch(() => undefined), PATIENCE_MS);
    try {
      return await work();
    } finally {
      clearInterval(asking);
      if (holds) this.#endCall();
    }
  }

  #hold(): void {
    this.#calls += 1;
    clearTimeout(this.#lingering);
    if (this.#release !== undefined) return;
    const released = new Promise<void>((resolve) => (this.#release = resolve));
    // Where the browser refuses the lock, the work is done without it.
    this.#lock.share(() => released).catch(() => undefined);
  }

  #endCall(): void {
    this.#calls -= 1;
    // An idle connection of a frozen shared worker holds up deletions in Chromium, where the lock keeps no page out.
    if (this.#calls > 0 || isChromium()) return;
    this.#lingering = setTimeout(() => {
      this.#release?.();
      this.#release = undefined;
    }, LINGER_MS);
  }
}

/** Whether the browser may freeze this realm without an event: a dedicated or shared worker. */
function isFrozenUnasked(): boolean {
  return 'DedicatedWorkerGlobalScope' in globalThis || 'SharedWorkerGlobalScope' in globalThis;
}

const locks = new Map<string, DatabaseLock>();

/**
 * Runs a call that may open transactions of a database. A worker holds the lock of the database meanwhile. A call
 * that waits asks for the locks, in every realm.
 */
export function withTransactions<T>(database: string, work: () => T | Promise<T>): Promise<T> {
  let lock = locks.get(database);
  if (lock === undefined) locks.set(database, (lock = new DatabaseLock(database)));
  return lock.run(work);
}
