/** Each file of the framework's browser build makes itself a `require`, and none uses it. */
export function createRequire(): undefined {
  return undefined;
}
