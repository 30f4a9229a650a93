/**
 * Returns whether a value is a promise, by its tag. zone.js replaces `Promise` in a page, and async functions still
 * return the host's own, which are no instances of it. Never throws.
 */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  try {
    const tagged = value as { readonly [Symbol.toStringTag]?: unknown } | null | undefined;
    return tagged?.[Symbol.toStringTag] === 'Promise';
  } catch {
    return false;
  }
}
