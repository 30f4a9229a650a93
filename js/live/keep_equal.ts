/**
 * Returns `next`, with every part of it that equals the same part of `last` replaced by that part: all of `last`
 * if they are equal. So what has not changed stays the same object. Both are JSON values; neither is changed.
 */
export function keepEqual<T>(last: unknown, next: T): T {
  if (Object.is(last, next)) return next;
  if (!isObject(last) || !isObject(next) || Array.isArray(last) !== Array.isArray(next)) {
    return next;
  }
  const keys = Object.keys(next);
  let isSame = keys.length === Object.keys(last).length;
  const kept: Record<string, unknown> | unknown[] = Array.isArray(next) ? [] : {};
  for (const key of keys) {
    const value = keepEqual(Object.hasOwn(last, key) ? last[key] : undefined, next[key]);
    isSame &&= Object.hasOwn(last, key) && Object.is(value, last[key]);
    // `__proto__` is an ordinary key.
    Object.defineProperty(kept, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return (isSame ? last : kept) as T;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
