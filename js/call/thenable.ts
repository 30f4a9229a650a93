import type { Event } from '../model/event.js';

/**
 * Whether a promise cannot be resolved with it: it would call `then`, and wait for what that does. Asked
 * as late as can be, since `then` may be put there at any time.
 */
export function isThenable(value: object): boolean {
  try {
    return typeof (value as { then?: unknown }).then === 'function';
  } catch {
    return true;
  }
}

/**
 * A copy of an event that a promise can be resolved with.
 *
 * @param stored the text that was stored, if it was. JSON has no functions, and parsing it runs no code of
 *   the caller's, which must not fail an append that is committed.
 */
export function withoutThen<E extends Event>(event: E, stored?: string): E {
  if (stored !== undefined) return JSON.parse(stored) as E;
  const copy: E & { then?: unknown } = { ...event };
  delete copy.then;
  return copy;
}
