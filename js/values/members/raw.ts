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
