/** Memory answers at once, and IndexedDB with a promise. Only this folder writes code for both. */
import { isPromise } from '../../../values/members.js';

export type MaybePromise<T> = T | Promise<T>;

/** Passes a value to `next`: at once, or once it resolves if it is a promise. */
export function after<T, U>(value: MaybePromise<T>, next: (value: T) => U): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value);
}
