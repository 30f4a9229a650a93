import { requireNotAborted } from '../../core/call/call.js';
import { nextTask } from '../../core/call/scheduling.js';
import type { UserRequest } from '../../values/model/session.js';

/** The UTF-16 units of texts, read or folded, after which the loop gets a turn. They take some milliseconds. */
const UNITS = 2 ** 16;

/** Gives the loop a turn from time to time during a long work, so that others do not wait for its end. */
export class Pauses {
  /** Ends the work at its next turn. */
  readonly signal: UserRequest['signal'];
  #units = 0;

  constructor(signal?: UserRequest['signal']) {
    this.signal = signal;
  }

  /**
   * Notes work by its UTF-16 units. Resolves after a turn of the loop if there was much since the last one.
   *
   * @throws SessionError `aborted` after a turn if the signal has fired
   */
  async after(units: number): Promise<void> {
    this.#units += units;
    if (this.#units < UNITS) return;
    this.#units = 0;
    await nextTask();
    requireNotAborted(this.signal);
  }
}

/** Returns about how many UTF-16 units a value has as JSON. */
export function sizeOfJson(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) size += sizeOfJson(item);
    return size;
  }
  for (const [key, member] of Object.entries(value)) size += key.length + 3 + sizeOfJson(member);
  return size;
}
