/**
 * Returns whether a value is a promise, by its tag. zone.js replaces `Promise` in a page, and async functions still
 * return the host's own, which are no instances of it. Never throws.
 */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  // Most results are none, and a search for the tag takes longer than this question.
  if (typeof value !== 'object' || value === null) return false;
  try {
    const tagged = value as { readonly [Symbol.toStringTag]?: unknown };
    return tagged[Symbol.toStringTag] === 'Promise';
  } catch {
    return false;
  }
}
