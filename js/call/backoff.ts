/**
 * How long to wait before the next attempt. The pause doubles from attempt to attempt. Half of it is random, so that
 * callers who met once do not meet again.
 *
 * @param attempt the number of attempts before this pause, minus one: 0 after the first attempt
 * @param first milliseconds of the first pause
 * @param longest milliseconds of the longest pause
 * @returns milliseconds
 */
export function backoff(attempt: number, first: number, longest: number): number {
  const pause = Math.min(longest, first * 2 ** attempt);
  return pause * (0.5 + Math.random() / 2);
}
