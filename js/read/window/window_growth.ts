/**
 * Returns how many of the last events to read next if `last` were too few. Each read has four times as many as the one
 * before, so both the reads and the unused events stay few.
 */
export function nextLast(last: number): number {
  return Math.min(last * 4, Number.MAX_SAFE_INTEGER);
}
