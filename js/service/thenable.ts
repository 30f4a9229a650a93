import type { Event } from '../event.js';

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

/** A copy that a promise can be resolved with. */
export function withoutThen<E extends Event>(event: E): E {
  const copy: E & { then?: unknown } = { ...event };
  delete copy.then;
  return copy;
}
