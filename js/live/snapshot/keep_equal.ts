/**
 * Returns `next`, with every part of it that equals the same part of `last` replaced by that part: all of `last`
 * if they are equal. So what has not changed stays the same object. Both are JSON values; neither is changed.
 */
export function keepEqual<T>(last: unknown, next: T): T {
  if (!isObject(last) || !isObject(next) || Array.isArray(last) !== Array.isArray(next)) {
    return next;
  }
  const keys = Object.keys(next);
  let isSame = keys.length === Object.keys(last).length;
  let isShared = false;
  const entries = keys.map((key): [string, unknown] => {
    const known = Object.hasOwn(last, key);
    const value = keepEqual(known ? last[key] : undefined, next[key]);
    isSame &&= known && Object.is(value, last[key]);
    isShared ||= value !== next[key];
    return [key, value];
  });
  if (isSame) return last as T;
  if (!isShared) return next;
  return (
    Array.isArray(next) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
  ) as T;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
