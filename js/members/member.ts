/**
 * Sets a member, as `Reflect.set` does and three times as fast.
 *
 * @returns `false` if it cannot be set, as the object is frozen or the member read-only
 * @throws what a setter throws
 */
export function setMember(target: object, key: string, value: unknown): boolean {
  try {
    (target as Record<string, unknown>)[key] = value;
    return true;
  } catch {
    return Reflect.set(target, key, value);
  }
}

/**
 * Gives an object a member of its own, whatever it inherits under that name: `__proto__`, a setter that
 * somebody put on `Object.prototype`, or anything there once that is frozen.
 *
 * @returns `false` if it cannot be given, as the object is frozen or the member read-only
 * @throws what an own setter throws
 *
 * @example
 * ```ts
 * const copy = {};
 * defineMember(copy, '__proto__', 1);
 * JSON.stringify(copy); // '{"__proto__":1}'
 * ```
 */
export function defineMember(target: object, key: string, value: unknown): boolean {
  // Assigning is many times faster. Not `in`, for which engines remember what the objects looked like, and
  // forget it with them.
  if (Object.hasOwn(target, key) || !Reflect.has(target, key)) {
    return setMember(target, key, value);
  }
  return Reflect.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
