/** Memory answers at once, and other storages with a promise. Appends and the store of the wasm have code for both. */
import { isPromise } from '../../../values/members.js';

export type MaybePromise<T> = T | Promise<T>;

/** Passes a value to `next`: at once, or once it resolves if it is a promise. */
export function after<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value);
}
