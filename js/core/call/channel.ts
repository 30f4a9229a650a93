import { markRaw } from '../../values/members/raw.js';
import { makeDisposable } from './disposable.js';
import { reportUncaught } from './uncaught.js';

/** The values of a channel that nobody has read yet. Its class decides what a new value does to those before it. */
export interface Unread<T> {
  readonly isEmpty: boolean;
  push(value: T): void;
  shift(): T | undefined;
  clear(): void;
}

/** A policy: the newest value takes the place of the one before it. */
export class Newest<T> implements Unread<T> {
  #newest: T | undefined;

  get isEmpty(): boolean {
    return this.#newest === undefined;
  }

  push(value: T): void {
    this.#newest = value;
  }

  shift(): T | undefined {
    const value = this.#newest;
    this.clear();
    return value;
  }

  clear(): void {
    this.#newest = undefined;
  }
}

/** Values from one writer to one reader, who iterates or is called with each of them. */
export class Channel<T extends object> implements AsyncIterableIterator<T> {
  declare [Symbol.asyncDispose]: () => Promise<void>;

  static {
    markRaw(this.prototype);
    makeDisposable(this.prototype, function () {
      return this.return();
    });
  }

  readonly #unread: Unread<T>;
  readonly #onValue: ((value: T) => void) | undefined;
  readonly #endListeners = new Set<() => void>();
  /** Pending calls of `next`, in order. */
  readonly #pendingReads: ((result: IteratorResult<T, undefined>) => void)[] = [];
  #hasEnded = false;
  #isCallbackScheduled = false;

  /** @param onValue takes the values; absent: they are read by iterating */
  constructor(unread: Unread<T>, onValue?: (value: T) => void) {
    this.#unread = unread;
    this.#onValue = onValue;
  }

  /** Calls `run` once, when the channel ends. */
  onEnd(run: () => void): void {
    this.#endListeners.add(run);
  }

  push(values: readonly T[]): void {
    if (this.#hasEnded) return;
    for (const value of values) this.#unread.push(value);
    this.#deliver();
  }

  /** Ends the channel after its unread values are read. */
  finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deliver();
    for (const run of this.#endListeners) run();
    this.#endListeners.clear();
  }

  /** Ends the channel at once. */
  readonly stop = makeDisposable(
    (): void => {
      this.#unread.clear();
      this.finish();
    },
    function () {
      this();
    },
  );

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve) => {
      this.#pendingReads.push(resolve);
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #deliver(): void {
    if (this.#onValue !== undefined) {
      this.#scheduleCallback(this.#onValue);
      return;
    }
    while (this.#pendingReads.length > 0 && (this.#hasEnded || !this.#unread.isEmpty)) {
      const value = this.#unread.shift();
      this.#pendingReads.shift()?.(value === undefined ? { done: true, value } : { value });
    }
  }

  /** Calls `onValue` in a microtask: if it throws, the call that pushed the value must not fail. */
  #scheduleCallback(onValue: (value: T) => void): void {
    if (this.#isCallbackScheduled || this.#unread.isEmpty) return;
    this.#isCallbackScheduled = true;
    queueMicrotask(() => {
      for (let next = this.#unread.shift(); next !== undefined; next = this.#unread.shift()) {
        try {
          onValue(next);
        } catch (error) {
          reportUncaught(error);
        }
      }
      this.#isCallbackScheduled = false;
    });
  }
}
