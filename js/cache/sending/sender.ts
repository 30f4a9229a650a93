import { backoff } from '../../call/backoff.js';
import { retryAfterOf } from '../../http/http_errors.js';
import type { HostAbortSignal } from '../../model/host.js';
import { type CacheKey, keyOfName, nameOf } from '../records/cache_key.js';
import { closedError, errorOf, isOutage } from '../records/failures.js';
import { LEASE_LOST } from '../records/lease.js';
import type { Delivery, DeliveryParts } from './delivery.js';
import { Waiters } from './waiters.js';

/** The most sessions that are sent at once. */
const MOST_AT_ONCE = 50;
/** The first and the longest pause after a failure, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** The pause that a write leaves. Each attempt reads all unsent events of a session, so not every write makes one. */
const WRITE_PAUSE = 100;
/** The longest pause after the end of another tab's lease, so that it is taken within 5 seconds. */
const TAKEOVER_PAUSE = 250;
/** The longest pause that a server may ask for. A date in `Retry-After` may be years away by a wrong clock. */
const LONGEST_RETRY_AFTER = 60 * 60 * 1000;

export interface SenderParts extends DeliveryParts {
  readonly delivery: Delivery;
  /** Tells the other tabs that they may send. */
  readonly tellIdle: () => void;
}

/** Sends the unsent changes: sessions in parallel, each one's changes in order. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #waiters: Waiters;
  readonly #inFlight = new Map<string, Promise<void>>();
  #running: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether a write has shortened the pause. */
  #isShortened = false;
  /** The number of runs that have begun. */
  #runs = 0;
  /** The number of runs that failed, one after the other. */
  #failures = 0;
  /** Why the present run ends. */
  #failure: unknown;
  /** Why one session or state cannot be sent in the present run, by name. Others are sent. */
  readonly #paused = new Map<string, unknown>();
  /** Called when there may be more to start. */
  #onProgress: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#waiters = new Waiters(parts.unsent);
  }

  /** Starts to send at once, also if it was waiting after a failure. */
  wake(): void {
    if (this.#isClosed) return;
    this.#clearTimer();
    this.#onProgress?.();
    const run = (): Promise<void> => this.#run().catch((error: unknown) => this.#endRun(error));
    this.#running ??= run().then(() => {
      this.#running = undefined;
      // A change came after the last check.
      const isIdle = this.#timer === undefined && this.#failure === undefined;
      if (isIdle && this.#parts.unsent.ready().length > 0) this.wake();
    });
  }

  /** Starts to send what was just written: at once, or soon if the last run failed. */
  wakeForWrite(): void {
    if (this.#failures === 0) return this.wake();
    if (this.#isShortened) return;
    this.#clearTimer();
    this.wakeLater(WRITE_PAUSE);
    this.#isShortened = true;
  }

  /** Starts to send later: the other tab that sends may end. */
  wakeLater(milliseconds: number): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.wake(), milliseconds);
    // In Node the timer alone does not keep the program running, if no call waits for it.
    if (this.#waiters.size === 0) (this.#timer as { unref?: () => void }).unref?.();
  }

  /**
   * Waits until all of these are sent or set aside.
   *
   * @throws SessionError the reason why one cannot be sent now; `aborted`
   */
  waitFor(keys: readonly CacheKey[], signal?: HostAbortSignal): Promise<void> {
    const done = this.#waiters.wait(keys, this.#runs, signal);
    if (this.#isClosed) this.#waiters.reject(closedError(), Infinity);
    this.wake();
    return done;
  }

  /**
   * Waits until the remote has everything of a session or state.
   *
   * @throws SessionError why the remote has refused it, or why it cannot be sent now; `aborted`
   */
  async confirm(key: CacheKey, signal: HostAbortSignal | undefined): Promise<void> {
    const { unsent } = this.#parts;
    const name = nameOf(key);
    while (unsent.has(name)) {
      await this.waitFor([key], signal);
      if (!unsent.has(name)) return;
      // It was set aside. A call of the outbox, also of another process, may have released it since.
      await unsent.refresh(key);
      const refusal = unsent.refusalOf(name);
      if (refusal !== undefined) throw errorOf(refusal);
    }
  }

  /** Ends the sending, after the requests that are under way have settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#clearTimer();
    this.#onProgress?.();
    await this.#running?.catch(() => undefined);
    this.#waiters.reject(closedError(), Infinity);
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isShortened = false;
  }

  async #run(): Promise<void> {
    const { lease, board, unsent, tellIdle } = this.#parts;
    this.#failure = undefined;
    this.#paused.clear();
    this.#runs += 1;
    // Changes that are made in the same moment are sent together.
    await Promise.resolve();
    if (unsent.ready().length === 0) return;
    try {
      await this.#sendAll();
    } catch (error) {
      this.#endRun(error);
    }
    await Promise.all(this.#inFlight.values());
    if (board.status.isSending) board.set({ isSending: false });
    await lease.release().catch((error: unknown) => this.#endRun(error));
    const [pauseReason] = this.#paused.values();
    const failure: unknown = this.#failure ?? pauseReason;
    if (failure === undefined) return tellIdle();
    // Only the timer says from now on that the sender waits. A call may stop it before this run has settled.
    this.#failure = undefined;
    if (failure === LEASE_LOST)
      return this.wakeLater(lease.wait + backoff(0, TAKEOVER_PAUSE, TAKEOVER_PAUSE));
    this.#waiters.reject(failure, this.#runs);
    if (this.#waiters.size > 0) return;
    const pause = backoff(this.#failures, FIRST_PAUSE, LONGEST_PAUSE);
    this.#failures += 1;
    this.wakeLater(Math.max(pause, Math.min(retryAfterOf(failure), LONGEST_RETRY_AFTER)));
  }

  async #sendAll(): Promise<void> {
    const { lease, board, unsent } = this.#parts;
    await lease.acquire();
    board.set({ isSending: true });
    // Another tab, or an earlier visit, may have recorded a deletion of an app's state, which is sent first.
    const apps = new Set(unsent.ready().map((name) => keyOfName(name).appName));
    await Promise.all([...apps].map((appName) => unsent.refresh({ appName })));
    while (!this.#isClosed && this.#failure === undefined) {
      const sendable = unsent.sendable(this.#inFlight);
      const names = sendable.filter((name) => !this.#paused.has(name));
      if (names.length === 0 && this.#inFlight.size === 0) return;
      const progress = new Promise<void>((resolve) => (this.#onProgress = resolve));
      for (const name of names.slice(0, MOST_AT_ONCE - this.#inFlight.size)) {
        this.#inFlight.set(name, this.#send(name));
      }
      await progress;
    }
  }

  async #send(name: string): Promise<void> {
    const { delivery, fetch, unsent, tell } = this.#parts;
    const key = keyOfName(name);
    const version = unsent.versionOf(name);
    try {
      const isSent = await fetch.turns.run(name, () => delivery.send(key));
      this.#failures = 0;
      // A change may have come meanwhile.
      if (!isSent || !unsent.remove(name, version)) await unsent.refresh(key);
      tell(key);
    } catch (error) {
      if (error === LEASE_LOST || isOutage(error)) {
        this.#endRun(error);
      } else {
        this.#paused.set(name, error);
        this.#report(error);
      }
    } finally {
      this.#inFlight.delete(name);
      this.#onProgress?.();
    }
  }

  #endRun(error: unknown): void {
    this.#failure ??= error;
    if (error !== LEASE_LOST) this.#report(error);
  }

  #report(error: unknown): void {
    if (!this.#isClosed) this.#parts.report(error);
  }
}
