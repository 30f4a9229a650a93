/**
 * Returns how long to wait before the next attempt. The pause doubles with each attempt. Half of it
 * is random, so that callers who collided once do not collide again.
 *
 * @param attempt 0 after the first attempt, 1 after the second, and so on
 * @param first milliseconds of the first pause, at most
 * @param longest milliseconds of the longest pause
 * @returns milliseconds, from half of the pause to the whole pause
 */
export function backoff(attempt: number, first: number, longest: number): number {
  const pause = Math.min(longest, first * 2 ** attempt);
  return pause * (0.5 + Math.random() / 2);
}
