import { makeDisposable } from '../call/disposable.js';
import { reportUncaught } from '../call/uncaught.js';
import { markRaw } from '../../values/members/raw.js';
import type { Notice, Notices, WatchRequest } from '../../values/model/notice.js';
import { PendingNotices } from './pending_notices.js';
import { matchNotice } from './watch_request.js';

/** One watcher: its request, and the notices that match it, for one reader who iterates or is called with each of them. */
export class Watcher implements Notices {
  declare [Symbol.asyncDispose]: () => Promise<void>;

  static {
    markRaw(this.prototype);
    makeDisposable(this.prototype, function () {
      return this.return();
    });
  }

  /** What is watched. */
  readonly request: Readonly<WatchRequest>;
  readonly #unread = new PendingNotices();
  readonly #onNotice: ((notice: Notice) => void) | undefined;
  readonly #endListeners = new Set<() => void>();
  /** Pending calls of `next`, in order. */
  readonly #pendingReads: ((result: IteratorResult<Notice, undefined>) => void)[] = [];
  #hasEnded = false;
  #isCallbackScheduled = false;

  /** @param onNotice takes the notices; absent: they are read by iterating */
  constructor({ appName, userId, sessionId }: WatchRequest, onNotice?: (notice: Notice) => void) {
    // A copy, since the caller may change and reuse the object.
    this.request = { appName, userId, sessionId };
    this.#onNotice = onNotice;
  }

  /** Calls `run` once, when the watcher ends. */
  onEnd(run: () => void): void {
    this.#endListeners.add(run);
  }

  push(notices: readonly Notice[]): void {
    if (this.#hasEnded) return;
    for (const notice of notices) {
      const matching = matchNotice(this.request, notice);
      if (matching !== undefined) this.#unread.push(matching);
    }
    this.#deliver();
  }

  /** Ends the watcher after its unread notices are read. */
  finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deliver();
    for (const run of this.#endListeners) run();
    this.#endListeners.clear();
  }

  /** Ends the watcher at once. */
  readonly stop = makeDisposable(
    (): void => {
      this.#unread.clear();
      this.finish();
    },
    function () {
      this();
    },
  );

  next(): Promise<IteratorResult<Notice, undefined>> {
    return new Promise((resolve) => {
      this.#pendingReads.push(resolve);
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<Notice, undefined>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #deliver(): void {
    if (this.#onNotice !== undefined) {
      this.#scheduleCallback(this.#onNotice);
      return;
    }
    while (this.#pendingReads.length > 0 && (this.#hasEnded || !this.#unread.isEmpty)) {
      const value = this.#unread.shift();
      this.#pendingReads.shift()?.(value === undefined ? { done: true, value } : { value });
    }
  }

  /** Calls `onNotice` in a microtask: if it throws, the call that pushed the notice must not fail. */
  #scheduleCallback(onNotice: (notice: Notice) => void): void {
    if (this.#isCallbackScheduled || this.#unread.isEmpty) return;
    this.#isCallbackScheduled = true;
    queueMicrotask(() => {
      for (let next = this.#unread.shift(); next !== undefined; next = this.#unread.shift()) {
        try {
          onNotice(next);
        } catch (error) {
          reportUncaught(error);
        }
      }
      this.#isCallbackScheduled = false;
    });
  }
}
