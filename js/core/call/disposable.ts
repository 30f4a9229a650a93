/**
 * Lets `await using` end an object, if the host has `Symbol.asyncDispose`. Safari lacks it: a
 * method declared with it would be named `'undefined'` there.
 *
 * @param target the object, or the prototype of a class
 * @param dispose called on the object
 */
export function makeDisposable<T extends object>(
  target: T,
  dispose: (this: T) => unknown,
): T & AsyncDisposable {
  if (typeof Symbol.asyncDispose === 'symbol') {
    Object.defineProperty(target, Symbol.asyncDispose, {
      async value(this: T) {
        await dispose.call(this);
      },
      configurable: true,
      writable: true,
    });
  }
  return target as T & AsyncDisposable;
}
