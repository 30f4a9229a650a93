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
 * Gives an object of ours a member of its own, also one called `__proto__`.
 *
 * @param target an ordinary object, neither frozen nor anybody else's
 *
 * @example
 * ```ts
 * const copy = {};
 * defineMember(copy, '__proto__', 1);
 * JSON.stringify(copy); // '{"__proto__":1}'
 * ```
 */
export function defineMember(target: Record<string, unknown>, key: string, value: unknown): void {
  // Assigning is many times faster, but to this name it would change the prototype.
  if (key !== '__proto__') {
    target[key] = value;
    return;
  }
  const ordinary = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(target, key, { ...ordinary, value });
}
