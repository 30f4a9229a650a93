/**
 * Statements over several rows are made for powers of two only, so that few serve all counts and each is
 * prepared once.
 */

/** The statement for a count, made when it is first needed. */
export function byCount<Statement>(make: (count: number) => Statement) {
  const made = new Map<number, Statement>();
  return (count: number): Statement => {
    const known = made.get(count) ?? make(count);
    made.set(count, known);
    return known;
  };
}

/** In pieces of at most `most`, the last one filled with its first item up to a power of two. */
export function* filledBatches<Item>(items: readonly Item[], most: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += most) {
    const batch = items.slice(start, start + most);
    const [first] = batch;
    while (first !== undefined && !isPowerOfTwo(batch.length)) batch.push(first);
    yield batch;
  }
}

/** In pieces of at most `most`, a power of two, each of which is one as well. */
export function* exactBatches<Item>(items: readonly Item[], most: number): Generator<Item[]> {
  let size = most;
  for (let start = 0; start < items.length; start += size) {
    while (size > items.length - start) size /= 2;
    yield items.slice(start, start + size);
  }
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
