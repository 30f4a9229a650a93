import { newEventId } from '../../model/event/create_event.js';
import type { Records } from './records.js';

/** A tab that shows no sign of life for this time loses the lease. */
export const LEASE_MS = 5000;
/** It is renewed when this much of it is left. */
const RENEWAL_MS = 3000;

interface LeaseRecord {
  readonly holder: string;
  /** Grows with each holder. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/**
 * The right to send, which one tab has at a time. It is a record of the local storage, because a Web Lock would stay
 * with a tab that the browser has frozen, and Node has none. Two senders would do no harm: each send may be repeated.
 */
export class Lease {
  readonly #records: Records;
  readonly #holder = newEventId();
  #until = 0;
  /** Until when another tab has it. */
  #othersUntil = 0;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Milliseconds until the lease of another tab ends. */
  get wait(): number {
    return Math.max(0, this.#othersUntil - Date.now());
  }

  /** Takes the lease, or extends it. */
  async acquire(): Promise<boolean> {
    if (this.#until - Date.now() > LEASE_MS - RENEWAL_MS) return true;
    let until = 0;
    await this.#records.changeOwn(({ lease }) => {
      const now = Date.now();
      const { holder, number, until: end } = takeLease(lease);
      const isMine = holder === this.#holder;
      // A clock that was set back must not keep the lease for longer.
      const isHeld = end > now && end <= now + LEASE_MS;
      if (!isMine && isHeld) {
        until = 0;
        this.#othersUntil = end;
        return {};
      }
      until = now + LEASE_MS;
      return { lease: { holder: this.#holder, number: isMine ? number : number + 1, until } };
    });
    this.#until = until;
    return until > 0;
  }

  /** Lets another tab send at once. */
  async release(): Promise<void> {
    if (this.#until === 0) return;
    this.#until = 0;
    await this.#records.changeOwn(({ lease }) => {
      const present = takeLease(lease);
      return present.holder === this.#holder ? { lease: { ...present, until: 0 } } : {};
    });
  }
}

function takeLease(value: unknown): LeaseRecord {
  return (value as LeaseRecord | undefined) ?? { holder: '', number: 0, until: 0 };
}
