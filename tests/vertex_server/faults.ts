// What goes wrong on demand: each fault waits for its call, is used once, and those of one call come in the order given.

import { type Call } from './calls.js';

export type Fault =
  /** Nothing goes wrong: what was asked for next is for a later call. */
  | { readonly kind: 'pass' }
  /** Nothing is done, and the answer says so. */
  | {
      readonly kind: 'refuse';
      readonly code: number;
      readonly message: string;
      /** The header of that name. */
      readonly retryAfter?: string | undefined;
    }
  /** It is done, and the connection breaks before anything is answered. */
  | { readonly kind: 'lose' }
  /** It is done, and the answer says that it was not: a proxy that gave up. */
  | { readonly kind: 'deny'; readonly code: number; readonly message: string }
  /** The connection breaks, and nothing is done. */
  | { readonly kind: 'drop' }
  /** Nothing is done and nothing is ever answered. `hears` gets what resolves when the client has given up. */
  | { readonly kind: 'hang'; readonly hears?: (end: Promise<unknown>) => void }
  /** It is done, and the answer is this text. */
  | { readonly kind: 'answer'; readonly text: string }
  /** It is done, and the answer comes so much later. */
  | { readonly kind: 'late'; readonly milliseconds: number }
  /** This happens first, for instance another's write. */
  | { readonly kind: 'before'; readonly action: () => unknown };

export class Faults {
  readonly #waiting = new Map<Call, Fault[]>();

  add(call: Call, fault: Fault): void {
    this.#waiting.set(call, [...(this.#waiting.get(call) ?? []), fault]);
  }

  take(call: Call): Fault | undefined {
    return this.#waiting.get(call)?.shift();
  }

  /** Whether all that was asked for has happened. */
  get allUsed(): boolean {
    return [...this.#waiting.values()].every((faults) => faults.length === 0);
  }
}
