/**
 * Lets `await using` close a service, if the host has `Symbol.asyncDispose`. Safari lacks it: a
 * method declared with it would be named `'undefined'` there.
 */
export function makeDisposable(prototype: { close(): Promise<void> }): void {
  if (typeof Symbol.asyncDispose !== 'symbol') return;
  Object.defineProperty(prototype, Symbol.asyncDispose, {
    value(this: { close(): Promise<void> }) {
      return this.close();
    },
    configurable: true,
    writable: true,
  });
}
