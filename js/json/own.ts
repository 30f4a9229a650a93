/**
 * The own members of what a caller gives, each read once. What stands on `Object.prototype`, or on a class's,
 * under a name that was left out is no answer of the caller's.
 */
export function ownMembers<Given extends object>(given: Given): Given {
  return Object.assign<object, Given>(Object.create(null) as object, given);
}
