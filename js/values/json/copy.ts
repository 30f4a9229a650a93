import { isPlainObject } from './rules.js';

/**
 * Copies a value that `JSON.parse` returned. The copy shares no object with it.
 *
 * @param value a tree of at most some hundred levels
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => copyJson<unknown>(element)) as T;
  // After the spread all members are own, so no assignment meets a setter.
  const copy = { ...value } as Record<string, unknown>;
  for (const key of Object.keys(copy)) copy[key] = copyJson(copy[key]);
  return copy as T;
}

/**
 * Copies an array or a plain object of a request that a part may read later. What the caller changes then has no
 * effect.
 */
export function ownMembers<Value>(value: Value): Value {
  if (Array.isArray(value)) return [...(value as unknown[])] as Value;
  return isPlainObject(value) ? { ...value } : value;
}
