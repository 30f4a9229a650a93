/**
 * Returns whether the value has a `then` method. A promise resolved with such a value would call
 * `then` and wait for it. Check right before resolving, since `then` may be added at any time.
 */
export function isThenable(value: object): boolean {
  try {
    return typeof (value as { then?: unknown }).then === 'function';
  } catch {
    return true;
  }
}

/**
 * Returns a copy of an event without a `then`, for a promise to resolve with.
 *
 * @param stored the stored text, if the event was stored. Parsing it runs no code of the caller's,
 *   which could fail an append that is committed.
 */
export function withoutThen<E extends object>(event: E, stored?: string): E {
  if (stored !== undefined) return JSON.parse(stored) as E;
  const copy: E & { then?: unknown } = { ...event };
  delete copy.then;
  return copy;
}
