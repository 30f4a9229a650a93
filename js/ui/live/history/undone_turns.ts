import type { Event } from '../../../values/model/event/event.js';

/** The invocations that a rewind has undone since the store began to show them. */
export class UndoneTurns {
  readonly #invocations = new Set<string>();

  has(invocationId: string): boolean {
    return this.#invocations.has(invocationId);
  }

  /**
   * Compares the events before and after a read of the window. Those before the first common one may only have left the
   * window, unless it has all events.
   */
  note(before: readonly Event[], after: readonly Event[], isWhole: boolean): void {
    const ids = new Set(after.map(({ id }) => id));
    const common = before.findIndex(({ id }) => ids.has(id));
    const start = isWhole ? 0 : common < 0 ? before.length : common;
    for (const { id, invocationId } of before.slice(start)) {
      if (!ids.has(id)) this.#invocations.add(invocationId);
    }
    for (const { invocationId } of after) this.#invocations.delete(invocationId);
  }
}
