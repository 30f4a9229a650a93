/**
 * Lets `await using` close a service, where the host knows such things: Safari has no
 * `Symbol.asyncDispose`, and a method of that name would be called `'undefined'` there.
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
