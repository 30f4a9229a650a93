/**
 * When two JSON values are equal: whatever the order of their keys. The core compares stored texts by the same rule.
 */
import { parseJson } from './parse.js';
import { isObject } from './rules.js';

/** Returns whether two JSON values are equal. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  return Object.is(keepEqual(one, other), one);
}

/** Returns whether two JSON texts are equal as values. A text that cannot be read is equal only to itself. */
export function isEqualText(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return isEqualJson(parseJson(one), parseJson(other));
  } catch {
    return false;
  }
}

/**
 * Returns `next`, with every part of it that equals the same part of `last` replaced by that part: all of `last`
 * if they are equal. So what has not changed stays the same object. Both are JSON values; neither is changed.
 */
export function keepEqual<T>(last: unknown, next: T): T {
  // 0 and −0 are equal.
  if (last === next) return last as T;
  if (!isObject(last) || !isObject(next)) return next;
  if (Array.isArray(last) !== Array.isArray(next)) return next;
  const keys = Object.keys(next);
  let isSame = keys.length === Object.keys(last).length;
  let result: Record<string, unknown> = next;
  for (const key of keys) {
    const isKnown = Object.hasOwn(last, key);
    const value = isKnown ? keepEqual(last[key], next[key]) : next[key];
    isSame &&= isKnown && Object.is(value, last[key]);
    if (value === next[key]) continue;
    // In the copy all members are own, so no assignment meets a setter.
    if (result === next) result = (Array.isArray(next) ? [...next] : { ...next }) as typeof result;
    result[key] = value;
  }
  return (isSame ? last : result) as T;
}
