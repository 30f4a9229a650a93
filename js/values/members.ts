/**
 * Objects that are not ours: frozen, with getters, with names such as `__proto__`, promises, or behind a proxy of Vue.
 */

/**
 * Sets a member as `Reflect.set` does, but three times as fast.
 *
 * @returns `false` if the object is frozen or the member read-only
 * @throws whatever a setter throws
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
 * Gives an object an own member, whatever it inherits under that name: `__proto__`, or a read-only member of a
 * frozen `Object.prototype`.
 *
 * @returns `false` if the object is frozen or the member read-only
 * @throws whatever an own setter throws
 */
export function defineMember(target: object, key: string, value: unknown): boolean {
  // Assigning is many times faster than defining. `Reflect.has` and not `in`: JavaScript engines cache object
  // shapes for `in`, and lose that cache together with the objects.
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

/**
 * Like {@link defineMember}, but never throws.
 *
 * @returns whether the member could be written
 */
export function tryDefineMember(target: object, key: string, value: unknown): boolean {
  try {
    return defineMember(target, key, value);
  } catch {
    return false;
  }
}

/**
 * Removes an own member. Never throws.
 *
 * @returns whether the object has no such member now
 */
export function tryDeleteMember(target: object, key: string): boolean {
  try {
    return Reflect.deleteProperty(target, key);
  } catch {
    return false;
  }
}

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

/** Returns whether the value has a `then` method, as every promise has. */
export function isThenable(value: object): boolean {
  return typeof (value as { then?: unknown }).then === 'function';
}

/**
 * Keeps Vue, Pinia and Alpine from making proxies of the instances of a class, as Vue's `markRaw` does for one object.
 * A proxy cannot read private members.
 */
export function markRaw(prototype: object): void {
  Object.defineProperty(prototype, '__v_skip', { value: true });
}

/** Returns the object that a proxy of Vue stands for, as Vue's `toRaw` does. Any other object is returned as it is. */
export function rawOf<T extends object>(given: T): T {
  // An object of a caller's own may have a member of this name.
  if (Object.hasOwn(given, '__v_raw')) return given;
  const { __v_raw: raw } = given as { readonly __v_raw?: T | null };
  return typeof raw === 'object' && raw !== null ? rawOf(raw) : given;
}

/** Returns the primitive in a boxed number, string, boolean or BigInt, as `JSON.stringify` does. */
export function unbox(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // The tag is cheap to read but can be forged; `valueOf` checks the real type.
  switch (Object.prototype.toString.call(value)) {
    case '[object Number]':
      return isBoxOf(value, Number.prototype) ? Number(value) : value;
    case '[object String]':
      return isBoxOf(value, String.prototype) ? `${value as unknown as string}` : value;
    case '[object Boolean]':
      return isBoxOf(value, Boolean.prototype) ? Boolean.prototype.valueOf.call(value) : value;
    case '[object BigInt]':
      return isBoxOf(value, BigInt.prototype) ? BigInt.prototype.valueOf.call(value) : value;
    default:
      return value;
  }
}

/**
 * Returns whether `value` is a box of that kind. The prototype's `valueOf` throws for all other
 * objects.
 */
function isBoxOf(value: object, prototype: { valueOf(): unknown }): boolean {
  try {
    prototype.valueOf.call(value);
    return true;
  } catch {
    return false;
  }
}
