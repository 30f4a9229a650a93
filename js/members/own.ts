/**
 * The prototype of objects that inherit nothing. V8 makes an object without a prototype a hash table, which takes
 * longer to make and to read.
 */
const NOTHING: object = Object.freeze(Object.create(null) as object);

/**
 * The own members of what a caller gives, each read once, in an object that inherits nothing. What stands on
 * `Object.prototype`, or on a class's, under a name that was left out is no answer of the caller's.
 */
export function ownMembers<Given extends object>(given: Given): Given {
  return Object.assign<object, Given>(Object.create(NOTHING) as object, given);
}

/**
 * A member that may be missing, of an object whose class is not ours: it may inherit the member, but not from
 * `Object.prototype`, where any library may have put it.
 */
export function memberOf<Given extends object, Name extends keyof Given>(
  given: Given,
  name: Name,
): Given[Name] | undefined {
  const value = given[name];
  const everybodys = (Object.prototype as Partial<Given>)[name];
  if (everybodys === undefined || value !== everybodys) return value;
  return Object.hasOwn(given, name) ? value : undefined;
}
