/**
 * The prototype of objects that inherit nothing. V8 would turn an object without any prototype into
 * a hash table, which is slower to make and to read.
 */
const EMPTY_PROTOTYPE: object = Object.freeze(Object.create(null) as object);

/**
 * Copies the own members of a caller's object, each read once, into an object that inherits
 * nothing. So a member that the caller left out is not taken from `Object.prototype` or from a
 * class.
 */
export function ownMembers<Given extends object>(given: Given): Given {
  return Object.assign<object, Given>(Object.create(EMPTY_PROTOTYPE) as object, given);
}

/**
 * Reads an optional member of an object that is not of our class. The member may be inherited, but
 * not from `Object.prototype`, where any library may have put it.
 */
export function memberOf<Given extends object, Name extends keyof Given>(
  given: Given,
  name: Name,
): Given[Name] | undefined {
  const value = given[name];
  const inherited = (Object.prototype as Partial<Given>)[name];
  if (inherited === undefined || value !== inherited) return value;
  return Object.hasOwn(given, name) ? value : undefined;
}
