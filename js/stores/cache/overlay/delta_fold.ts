import { REMOVED } from '../../../values/state/scope.js';

/** A change of one key. */
export type KeyChange = readonly [key: string, value: unknown];

/** Deltas, folded in their order: the last value of each key. Keys keep the places that they would have in a state. */
export class DeltaFold {
  readonly #values = new Map<string, { readonly value: unknown; readonly isMoved: boolean }>();

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  set(key: string, value: unknown): void {
    const earlier = this.#values.get(key);
    // A key that was removed comes back as the last one.
    const isMoved = value !== REMOVED && earlier?.value === REMOVED;
    if (isMoved) this.#values.delete(key);
    this.#values.set(key, { value, isMoved: isMoved || earlier?.isMoved === true });
  }

  clear(): void {
    this.#values.clear();
  }

  /** The changes in the order in which they give the same state as the deltas. */
  get changes(): KeyChange[] {
    return [...this.#values].flatMap(([key, { value, isMoved }]): KeyChange[] =>
      isMoved && value !== REMOVED
        ? [
            [key, REMOVED],
            [key, value],
          ]
        : [[key, value]],
    );
  }
}
