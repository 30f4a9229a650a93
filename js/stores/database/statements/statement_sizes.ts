/**
 * The numbers of rows in one statement: powers of two. A statement over several rows is built for these sizes
 * only, so a few prepared statements serve every count.
 */
import type { Engine } from '../engine/engine.js';

/** Caches one statement per key, such as a count or a list of values. `make` builds it at its first use. */
export function cached<
  Key extends number | readonly (string | number | boolean | undefined)[],
  Statement,
>(make: (key: Key) => Statement) {
  const made = new Map<string, Statement>();
  return (key: Key): Statement => {
    const name = String(key);
    let statement = made.get(name);
    if (statement === undefined) made.set(name, (statement = make(key)));
    return statement;
  };
}

/**
 * Yields chunks of at most `most` items, in order. Fills the last chunk up to a power of two with copies of
 * its first item. `most` must be a power of two.
 */
export function* filledChunks<Item>(items: readonly Item[], most: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += most) {
    const chunk = items.slice(start, start + most);
    const [first] = chunk;
    while (first !== undefined && !isPowerOfTwo(chunk.length)) chunk.push(first);
    yield chunk;
  }
}

/**
 * Returns chunks of at most `most` items, in order, each with a power of two of them. `most` must be a power
 * of two.
 *
 * @param fits whether several items are not too long for one statement
 */
export function exactChunks<Item>(
  items: readonly Item[],
  most: number,
  fits: (chunk: readonly Item[]) => boolean = () => true,
): Item[][] {
  const chunks: Item[][] = [];
  for (let start = 0; start < items.length;) {
    let size = most;
    while (size > items.length - start) size /= 2;
    while (size > 1 && !fits(items.slice(start, start + size))) size /= 2;
    chunks.push(items.slice(start, (start += size)));
  }
  return chunks;
}

/**
 * Returns the most items of one statement: `most`, or a lower power of two if the engine allows fewer values.
 *
 * @param each the values of each item
 * @param others an upper bound of the values beside them
 */
export function mostItems({ queries }: Engine, most: number, each = 1, others = 8): number {
  let count = most;
  while (count * each + others > queries.maxParameters) count /= 2;
  return count;
}

/** Returns the lowest power of two that is not below the count. */
export function nextPowerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count)));
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
