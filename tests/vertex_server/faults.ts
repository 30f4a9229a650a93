// Faults on demand. Each fault waits for its call and is used once. The faults of one call are used in their order.

import { type Call } from './calls.js';

export type Fault =
  /** The call works; the next fault is for a later call. */
  | { readonly kind: 'pass' }
  /** The call has no effect, and the response is an error. */
  | {
      readonly kind: 'refuse';
      readonly code: number;
      readonly message: string;
      /** The header of that name. */
      readonly retryAfter?: string | undefined;
    }
  /** The call takes effect, and the connection breaks before the response. */
  | { readonly kind: 'lose' }
  /** The call takes effect, and the response is an error, as of a proxy with a timeout. */
  | { readonly kind: 'deny'; readonly code: number; readonly message: string }
  /** The connection breaks, and the call has no effect. */
  | { readonly kind: 'drop' }
  /** The call has no effect and no response. `onHang` gets a promise that resolves when the client closes the connection. */
  | { readonly kind: 'hang'; readonly onHang?: (end: Promise<unknown>) => void }
  /** The call takes effect, and the response is this text. */
  | { readonly kind: 'answer'; readonly text: string }
  /** The call takes effect, and the response is delayed. */
  | { readonly kind: 'late'; readonly milliseconds: number }
  /** An action runs before the call, for example a write of another client. */
  | { readonly kind: 'before'; readonly action: () => unknown };

export class Faults {
  readonly #waiting = new Map<Call, Fault[]>();

  add(call: Call, fault: Fault): void {
    this.#waiting.set(call, [...(this.#waiting.get(call) ?? []), fault]);
  }

  take(call: Call): Fault | undefined {
    return this.#waiting.get(call)?.shift();
  }

  /** Whether all faults were used. */
  get allUsed(): boolean {
    return [...this.#waiting.values()].every((faults) => faults.length === 0);
  }
}
