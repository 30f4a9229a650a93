/** A sequence of pseudo-random numbers from a seed, the same in every JavaScript engine. */
export class Random {
  #state: number;

  constructor(seed: number, purpose = '') {
    this.#state = seed >>> 0;
    // Close seeds must give different sequences.
    for (const character of purpose) this.#state = mixed(this.#state ^ character.charCodeAt(0));
    this.#state = mixed(this.#state + Math.floor(seed / 2 ** 32));
  }

  /** A number from 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return mixed(this.#state) / 2 ** 32;
  }

  /** A whole number from 0 to `end`, without `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  isLikely(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws Error if there is nothing to pick */
  pick<T>(values: readonly T[]): T {
    const index = this.below(values.length);
    if (index >= values.length) throw new Error('there is nothing to pick');
    return values[index]!;
  }

  /** One of the names, with a probability proportional to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let remaining = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      remaining -= weight;
      if (remaining < 0) return name;
    }
    return entries.at(-1)![0];
  }

  /** A subset of the values: each is in it with this probability. */
  some<T>(values: readonly T[], probability: number): T[] {
    return values.filter(() => this.isLikely(probability));
  }
}

/** Every bit of the result depends on every bit of `value`. */
function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}
