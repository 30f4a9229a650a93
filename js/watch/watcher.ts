import type { Notice, Notices, PublishedNotice, WatchRequest } from './notice.js';
import { PendingNotices } from './pending_notices.js';

/**
 * One that watches: what it wants, what it was not given yet, and how it is given. Its notices are
 * taken by iterating, or handed to a function.
 */
export class Watcher implements Notices {
  readonly #request: WatchRequest;
  readonly #onNotice: ((notice: Notice) => void) | undefined;
  readonly #onEnd = new Set<() => void>();
  readonly #pending = new PendingNotices();
  /** Calls of `next` that wait, in their order. */
  readonly #waiting: ((result: IteratorResult<Notice, undefined>) => void)[] = [];
  #isEnding = false;
  #isCalling = false;

  constructor(request: WatchRequest, onNotice?: (notice: Notice) => void) {
    // As it is now; a caller may use the object again.
    const { appName, userId, sessionId } = request;
    this.#request = { appName, userId, sessionId };
    this.#onNotice = onNotice;
  }

  /** Calls `run` once, when nothing will be taken any more. */
  whenEnded(run: () => void): void {
    this.#onEnd.add(run);
  }

  push(notices: readonly PublishedNotice[]): void {
    if (this.#isEnding) return;
    for (const notice of notices) {
      const wanted = wantedOf(this.#request, notice);
      if (wanted !== undefined) this.#pending.push(wanted);
    }
    this.#give();
  }

  resync(): void {
    if (this.#isEnding) return;
    this.#pending.resync();
    this.#give();
  }

  /** Ends it once what is pending was given. */
  finish(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#give();
    for (const run of this.#onEnd) run();
    this.#onEnd.clear();
  }

  /** Ends it at once. */
  readonly stop = (): void => {
    this.#pending.clear();
    this.finish();
  };

  next(): Promise<IteratorResult<Notice, undefined>> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#give();
    });
  }

  return(): Promise<IteratorResult<Notice, undefined>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #give(): void {
    if (this.#onNotice !== undefined) {
      this.#callSoon(this.#onNotice);
      return;
    }
    while (this.#waiting.length > 0 && (this.#isEnding || !this.#pending.isEmpty)) {
      const value = this.#pending.shift();
      this.#waiting.shift()?.(value === undefined ? { done: true, value } : { value });
    }
  }

  /** Not within the call that made the change: it must not fail by what the function does. */
  #callSoon(onNotice: (notice: Notice) => void): void {
    if (this.#isCalling || this.#pending.isEmpty) return;
    this.#isCalling = true;
    queueMicrotask(() => {
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
        try {
          onNotice(next);
        } catch (error) {
          report(error);
        }
      }
      this.#isCalling = false;
    });
  }
}

/** As the watcher is told of it; `undefined` if it is none of its business. */
function wantedOf(wants: WatchRequest, notice: PublishedNotice): PublishedNotice | undefined {
  // It concerns everybody.
  if (notice.type === 'lost') return notice;
  const { appName, userId, sessionId } = wants;
  if (notice.appName !== appName) return undefined;
  // Of the app's own state there is no user.
  if (userId === undefined || notice.userId === undefined) return notice;
  if (notice.userId !== userId) return undefined;
  if (sessionId === undefined || notice.type === 'stateChanged') return notice;
  if (notice.sessionId === undefined) return { ...notice, sessionId };
  return notice.sessionId === sessionId ? notice : undefined;
}

/** As the host reports what a listener of an event throws. */
function report(error: unknown): void {
  if (typeof reportError === 'function') {
    reportError(error);
    return;
  }
  // Node has no such function; there, too, it is an error that nobody caught.
  setTimeout(() => {
    throw error;
  });
}
