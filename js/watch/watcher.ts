import { reportUncaught } from '../call/uncaught.js';
import { makeDisposable } from '../call/disposable.js';
import type { Notice, Notices, StopWatching, WatchRequest } from '../model/notice.js';
import { PendingNotices } from './pending_notices.js';
import { matchNotice } from './watch_request.js';
import { markRaw } from '../members/raw.js';

/**
 * One watcher: its request, its pending notices, and their delivery. Notices are taken by iterating, or
 * passed to a function.
 */
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
  readonly #onNotice: ((notice: Notice) => void) | undefined;
  readonly #endListeners = new Set<() => void>();
  readonly #pending = new PendingNotices();
  /** Pending calls of `next`, in order. */
  readonly #pendingReads: ((result: IteratorResult<Notice, undefined>) => void)[] = [];
  #hasEnded = false;
  #isCallbackScheduled = false;

  constructor(request: WatchRequest, onNotice?: (notice: Notice) => void) {
    // A copy, since the caller may change and reuse the object.
    const { appName, userId, sessionId } = request;
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
      if (matching !== undefined) this.#pending.push(matching);
    }
    this.#deliver();
  }

  /** Ends the watcher after it has received its pending notices. */
  finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deliver();
    for (const run of this.#endListeners) run();
    this.#endListeners.clear();
  }

  /** Ends the watcher at once. */
  readonly stop: StopWatching = makeDisposable(
    (): void => {
      this.#pending.clear();
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
    while (this.#pendingReads.length > 0 && (this.#hasEnded || !this.#pending.isEmpty)) {
      const value = this.#takeNotice();
      this.#pendingReads.shift()?.(value === undefined ? { done: true, value } : { value });
    }
  }

  /** Returns a copy of the next notice, since other watchers and other tabs get the same one. */
  #takeNotice(): Notice | undefined {
    const notice = this.#pending.shift();
    if (notice === undefined || !('scopes' in notice)) return notice && { ...notice };
    return { ...notice, scopes: [...notice.scopes] };
  }

  /**
   * Calls `onNotice` in a microtask, outside of the call that made the change, which must not fail if
   * `onNotice` throws.
   */
  #scheduleCallback(onNotice: (notice: Notice) => void): void {
    if (this.#isCallbackScheduled || this.#pending.isEmpty) return;
    this.#isCallbackScheduled = true;
    queueMicrotask(() => {
      for (let next = this.#takeNotice(); next !== undefined; next = this.#takeNotice()) {
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
