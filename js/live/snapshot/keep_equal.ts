import { isObject } from '../../json/rules.js';

/**
 * Returns `next`, with every part of it that equals the same part of `last` replaced by that part: all of `last`
 * if they are equal. So what has not changed stays the same object. Both are JSON values; neither is changed.
 */
export function keepEqual<T>(last: unknown, next: T): T {
  if (last === next || !isObject(last) || !isObject(next)) return next;
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

/**
 * Returns `next`, with the elements of `last` in place of those that equal them: all of `last` if they are equal.
 *
 * @param idOf returns the id by which an element is found, wherever it stands
 */
export function keepElements<T>(
  last: readonly T[],
  next: readonly T[],
  idOf: (element: T) => string,
): readonly T[] {
  const known = new Map(last.map((element) => [idOf(element), element]));
  const kept = next.map((element) => keepEqual(known.get(idOf(element)), element));
  const isSame = kept.length === last.length && kept.every((element, at) => element === last[at]);
  return isSame ? last : kept;
}

/**
 * Returns `last` if all members of `next` are the same as its own. Getters are not compared, because they follow
 * from the other members.
 */
export function keepMembers<T extends object>(last: T | undefined, next: T): T {
  if (last === undefined) return next;
  const [before, after] = [last, next].map(Object.getOwnPropertyDescriptors);
  const keys = Object.keys(after!);
  const isSame =
    keys.length === Object.keys(before!).length &&
    keys.every((key) => Object.is(before![key]?.value, after![key]?.value));
  return isSame ? last : next;
}
