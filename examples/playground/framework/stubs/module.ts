/** Each file of the framework's browser build makes a `require` of its own, and none uses it. */
export function createRequire(): undefined {
  return undefined;
}
