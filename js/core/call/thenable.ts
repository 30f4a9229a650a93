/** Returns whether the value has a `then` method, as every promise has. */
export function isThenable(value: object): boolean {
  return typeof (value as { then?: unknown }).then === 'function';
}
