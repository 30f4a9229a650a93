import { keepEqual } from '../../../values/json/equal.js';

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

/** Returns `last` if all members of `next` are the same as its own. */
export function keepMembers<T extends object>(last: T | undefined, next: T): T {
  if (last === undefined) return next;
  const keys = Object.keys(next) as (keyof T)[];
  const isSame =
    keys.length === Object.keys(last).length &&
    keys.every((key) => Object.hasOwn(last, key) && Object.is(last[key], next[key]));
  return isSame ? last : next;
}
