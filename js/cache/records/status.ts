import { makeDisposable } from '../../call/disposable.js';
import { reportUncaught } from '../../call/uncaught.js';
import type { SessionErrorCode } from '../../errors/errors.js';

/**
 * A session, or without `sessionId` the state of a user, or without `userId` too that of an app.
 *
 * @example
 * ```ts
 * import type { CacheKey } from 'adk-session-wasm/cache';
 *
 * const session: CacheKey = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * ```
 */
export interface CacheKey {
  /** The app. */
  readonly appName: string;
  /** The user. Absent: the state of the app. */
  readonly userId?: string | undefined;
  /** The session. Absent: the state of the user or the app. */
  readonly sessionId?: string | undefined;
}

/**
 * The number of changes of one session or shared state that the remote has not confirmed.
 *
 * @example
 * ```ts
 * import type { PendingChanges } from 'adk-session-wasm/cache';
 *
 * const badge = ({ key, events }: PendingChanges) => `${key.sessionId}: ${events}`;
 * ```
 */
export interface PendingChanges {
  /** The session or the shared state. */
  readonly key: CacheKey;
  /** Unsent events. 0 if only something else waits: a creation, a title, a deletion or a state. */
  readonly events: number;
}

/**
 * A failure in the background.
 *
 * @example
 * ```ts
 * import type { CacheFailure } from 'adk-session-wasm/cache';
 *
 * const line = ({ code, message }: CacheFailure) => `${code}: ${message}`;
 * ```
 */
export interface CacheFailure {
  /** The code of the error. */
  readonly code: SessionErrorCode;
  /** What was wrong. It holds no token and no password. */
  readonly message: string;
}

/**
 * What a cache is doing. Each change makes a new object.
 *
 * @example
 * ```ts
 * import type { CacheStatus } from 'adk-session-wasm/cache';
 *
 * function label({ online, isSending, pending }: CacheStatus): string {
 *   if (!online) return `offline, ${pending.length} conversations wait`;
 *   return isSending ? 'saving' : 'saved';
 * }
 * ```
 */
export interface CacheStatus {
  /** Whether the last request reached the remote. `true` before the first one. */
  readonly online: boolean;
  /** Whether a tab is sending. */
  readonly isSending: boolean;
  /** The sessions and states with changes that wait, those that were set aside included. */
  readonly pending: readonly PendingChanges[];
  /** When a request to the remote last succeeded, in milliseconds since 1970. */
  readonly lastSuccess?: number;
  /** The last failure in the background. Absent after a later success. */
  readonly lastError?: CacheFailure;
}

/**
 * The values of a cache's status, beginning with the present one. A slow reader gets the newest.
 *
 * @example
 * ```ts
 * import type { CachedSessionService } from 'adk-session-wasm/cache';
 *
 * async function untilSaved(service: CachedSessionService): Promise<void> {
 *   for await (const { pending } of service.watchStatus()) if (pending.length === 0) return;
 * }
 * ```
 */
export interface StatusChanges extends AsyncIterableIterator<CacheStatus, undefined> {
  /** Waits for the next value. */
  next(): Promise<IteratorResult<CacheStatus, undefined>>;
  /** Ends the iteration. */
  return(): Promise<IteratorResult<CacheStatus, undefined>>;
  /** Returns the iterator itself. */
  [Symbol.asyncIterator](): this;
}

/** Holds the status of a cache, and tells who watches it. */
export class StatusBoard {
  #status: CacheStatus = { online: true, isSending: false, pending: [] };
  readonly #listeners = new Set<(status: CacheStatus) => void>();
  readonly #iterators = new Set<StatusIterator>();

  get status(): CacheStatus {
    return this.#status;
  }

  /** Sets members. One that is `undefined` becomes absent. */
  set(changes: { [Name in keyof CacheStatus]?: CacheStatus[Name] | undefined }): void {
    const merged = Object.entries({ ...this.#status, ...changes });
    const next = Object.fromEntries(merged.filter(([, value]) => value !== undefined));
    this.#status = Object.freeze(next) as unknown as CacheStatus;
    for (const iterator of this.#iterators) iterator.push(this.#status);
    for (const listener of this.#listeners) {
      try {
        listener(this.#status);
      } catch (error) {
        reportUncaught(error);
      }
    }
  }

  listen(listener: (status: CacheStatus) => void): () => void {
    this.#listeners.add(listener);
    return makeDisposable(
      () => void this.#listeners.delete(listener),
      function () {
        this();
      },
    );
  }

  iterate(): StatusChanges {
    const iterator = new StatusIterator(this.#status, () => this.#iterators.delete(iterator));
    this.#iterators.add(iterator);
    return iterator;
  }

  close(): void {
    for (const iterator of this.#iterators) void iterator.return();
    this.#listeners.clear();
  }
}

class StatusIterator implements StatusChanges {
  #newest: CacheStatus | undefined;
  #hasEnded = false;
  readonly #onEnd: () => void;
  readonly #reads: ((result: IteratorResult<CacheStatus, undefined>) => void)[] = [];

  constructor(first: CacheStatus, onEnd: () => void) {
    this.#newest = first;
    this.#onEnd = onEnd;
  }

  push(status: CacheStatus): void {
    this.#newest = status;
    this.#deliver();
  }

  next(): Promise<IteratorResult<CacheStatus, undefined>> {
    return new Promise((resolve) => {
      this.#reads.push(resolve);
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<CacheStatus, undefined>> {
    this.#hasEnded = true;
    this.#newest = undefined;
    this.#onEnd();
    this.#deliver();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #deliver(): void {
    while (this.#reads.length > 0 && (this.#newest !== undefined || this.#hasEnded)) {
      const value = this.#newest;
      this.#newest = undefined;
      this.#reads.shift()?.(value === undefined ? { done: true, value } : { value });
    }
  }
}
