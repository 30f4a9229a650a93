import { newEventId } from '../../model/event/create_event.js';
import type { Records } from './records.js';

/**
 * A tab that shows no sign of life for this time loses the lease. Another one looks up to 250 ms later, so it takes
 * over within 5 seconds.
 */
export const LEASE_MS = 4500;
/** It is renewed this often. A remote may take longer to answer than the lease lasts. */
const RENEWAL_MS = 1000;

/** Thrown when another tab sends by now. */
export const LEASE_LOST = new Error('Another tab sends.');

interface LeaseRecord {
  readonly holder: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/**
 * The right to send, which one tab has at a time. It is a record of the local storage, because a tab that
 * the browser has frozen keeps its Web Locks, and Node has none.
 */
export class Lease {
  readonly #records: Pick<Records, 'changeOwn'>;
  readonly #holder = newEventId();
  #until = 0;
  /** Whether it is renewed. */
  #isKept = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #renewal: Promise<void> | undefined;
  /** Until when another tab has it. */
  #othersUntil = 0;

  constructor(records: Pick<Records, 'changeOwn'>) {
    this.#records = records;
  }

  /** Milliseconds until the lease of another tab ends. */
  get wait(): number {
    return Math.max(0, this.#othersUntil - Date.now());
  }

  /** Takes the lease, and keeps it until {@link release}. @throws LEASE_LOST if another tab has it */
  async acquire(): Promise<void> {
    await this.#take(({ holder, until }, now) => {
      // A clock that was set back must not keep the lease for longer.
      return holder === this.#holder || until <= now || until > now + LEASE_MS;
    });
    this.#isKept = true;
    this.#renewLater();
  }

  /**
   * Checks the lease before a request, and renews it if the timers of this tab are late.
   *
   * @throws LEASE_LOST if another tab has had it meanwhile, also if it is free again: what this tab has read is out of date
   */
  async extend(): Promise<void> {
    const left = this.#until - Date.now();
    if (left < LEASE_MS / 2 || left > LEASE_MS) await this.#renew();
  }

  async #renew(): Promise<void> {
    await this.#take(({ holder }) => holder === this.#holder);
  }

  #renewLater(): void {
    this.#timer = setTimeout(() => {
      // After a failure, the next request tells whether the lease is lost.
      this.#renewal = this.#renew()
        .catch(() => undefined)
        .then(() => (this.#isKept ? this.#renewLater() : undefined));
    }, RENEWAL_MS);
    // In Node the timer alone does not keep the program running.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #take(mayTake: (lease: LeaseRecord, now: number) => boolean): Promise<void> {
    let until = 0;
    await this.#records.changeOwn(({ lease }) => {
      const now = Date.now();
      const present = takeLease(lease);
      const isMine = mayTake(present, now);
      until = isMine ? now + LEASE_MS : 0;
      if (isMine) return { lease: { holder: this.#holder, until } };
      this.#othersUntil = present.until;
      return {};
    });
    this.#until = until;
    if (until === 0) throw LEASE_LOST;
  }

  /** Lets another tab send at once. */
  async release(): Promise<void> {
    this.#isKept = false;
    clearTimeout(this.#timer);
    // Stored after the release, it would take the lease again.
    await this.#renewal;
    if (this.#until === 0) return;
    this.#until = 0;
    await this.#records.changeOwn(({ lease }) => {
      const present = takeLease(lease);
      return present.holder === this.#holder ? { lease: { ...present, until: 0 } } : {};
    });
  }
}

function takeLease(value: unknown): LeaseRecord {
  return (value as LeaseRecord | undefined) ?? { holder: '', until: 0 };
}
