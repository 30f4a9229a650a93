import { loadWasm } from '../wasm/core.js';
import { mayBeWritten } from '../errors/unwritten.js';
import { isSessionError, type SessionError } from '../errors/errors.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { AppendRequest, SessionStore } from '../storage/session_store.js';
import type { Appended } from '../wasm/protocol.js';
import { after, type MaybePromise } from '../call/call.js';
import type { HandleRecord, HandleSnapshot } from '../handle/handle.js';
import {
  appendOf,
  type HandleAppend,
  type HandleQueue,
  type HandleWrite,
  MOST_EVENTS,
  resolveCalls,
  takeWrite,
  enqueue,
} from './waiting_calls.js';

/** The most groups under way at once. Appends that wait meanwhile make the next group larger. */
const MAX_GROUPS = 2;

/** The milliseconds after which a group no longer counts as one of them: another transaction may hold a row. */
const SLOW_GROUP = 100;

const soon = Promise.resolve();

/** A request to append, and what follows its commit. */
export interface PreparedAppend {
  readonly request: AppendRequest;
  /** Called after the commit. */
  readonly committed: (appended: Appended) => void | Promise<void>;
}

/** The parts that {@link AppendGroups} works with. */
interface GroupParts {
  /** Called when the wasm is loaded. */
  readonly store: () => SessionStore;
  readonly prepare: (append: HandleAppend) => PreparedAppend;
  /** Adds details that only the storage knows to the error of a refused append. */
  readonly explain: (error: SessionError, key: CompositeSessionKey) => SessionError;
}

/**
 * Queues and groups appends over an asynchronous storage. This is the one place that does so.
 *
 * Appends through one handle are stored one after the other, so that none of them makes the handle
 * stale. Calls that wait meanwhile are combined into one write when their turn comes.
 *
 * Writes to different sessions that wait at the same time form a group. A storage that can do so
 * stores a group in one transaction. Over other storages each group has one write, and all groups
 * run at once.
 *
 * Each call succeeds or fails by itself. If a write of several calls fails, for whatever reason,
 * its calls are stored again one by one, each with its own outcome. A call that is stored already,
 * because only the response was lost, is found by its event ids.
 */
export class AppendGroups {
  readonly #parts: GroupParts;
  readonly #queues = new WeakMap<HandleRecord, HandleQueue>();
  /** The queues of handles with waiting appends and none under way, in the order of their turns. */
  #ready: HandleQueue[] = [];
  /** The number of groups under way that later appends wait for. */
  #groups = 0;
  /** Whether the next group starts by itself, in this tick or the next. */
  #isScheduled = false;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  /**
   * Resolves once the events are stored; rejects if they cannot be.
   *
   * @returns the number of calls that were stored in the same transaction
   */
  add(append: HandleAppend): Promise<number> {
    const { record } = append;
    let queue = this.#queues.get(record);
    if (queue === undefined) this.#queues.set(record, (queue = { calls: [], isActive: false }));
    const stored = enqueue(queue, append);
    if (!queue.isActive) {
      queue.isActive = true;
      this.#ready.push(queue);
      this.#schedule();
    }
    return stored;
  }

  /** Starts all waiting appends that can start, so that the service's next call comes after them. */
  flush(): void {
    this.#start(true);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Not `queueMicrotask`: Node creates a traceable resource for each of its callbacks.
    void soon.then(() => {
      this.#isScheduled = false;
      this.#start(false);
    });
  }

  /**
   * Starts groups once the wasm is loaded.
   *
   * Waits only for promises, so that synchronous writes finish in this tick. After a group of several sessions
   * the event loop goes on first: a storage may have taken milliseconds for it without a pause. Browsers have
   * no immediates and no such storage, and the timers of a hidden page may take a minute.
   *
   * @param isAll whether to start more groups than should be under way at once
   */
  #start(isAll: boolean): void {
    if (this.#ready.length === 0) return;
    try {
      const loading = loadWasm();
      if (loading !== undefined) {
        loading.then(
          () => this.#start(isAll),
          (error: unknown) => this.#failAll(error),
        );
        return;
      }
      const isMany = this.#parts.store().appendMany !== undefined;
      while (this.#ready.length > 0 && (isAll || !isMany || this.#groups < MAX_GROUPS)) {
        if (this.#isScheduled && !isAll && isMany) return;
        const group = this.#takeGroup();
        if (isMany && group.length > 1) {
          this.#storeGroup(group);
          if (typeof setImmediate === 'function') this.#pause();
          continue;
        }
        for (const write of group) {
          const stored = this.#storeWrite(write);
          if (isMany && stored !== undefined) this.#count(stored);
          void after(stored, () => this.#finish(write.queue));
        }
      }
    } catch (error) {
      this.#failAll(error);
    }
  }

  /** Takes the next writes, each to another session, with about {@link MOST_EVENTS} events in all. */
  #takeGroup(): HandleWrite[] {
    const group: HandleWrite[] = [];
    const sessions = new Set<string>();
    let size = 0;
    const ready = this.#ready;
    this.#ready = [];
    for (const queue of ready) {
      const name = sessionName(queue.calls[0]?.append.session);
      if (size >= MOST_EVENTS || sessions.has(name)) {
        this.#ready.push(queue);
        continue;
      }
      const write = takeWrite(queue);
      if (write === undefined) {
        this.#finish(queue);
        continue;
      }
      for (const { append } of write.calls) size += append.events.length;
      sessions.add(name);
      group.push(write);
    }
    return group;
  }

  #storeGroup(group: readonly HandleWrite[]): void {
    const parts = group.map((write) => appendOf(write));
    let stored: readonly Promise<void>[];
    try {
      const prepared = parts.map(({ append }) => this.#parts.prepare(append));
      const appended = this.#parts.store().appendMany!(prepared.map(({ request }) => request));
      stored = prepared.map(async ({ committed }, index) => committed(await appended[index]!));
    } catch (error) {
      stored = group.map(() => Promise.reject(error as Error));
    }
    this.#count(Promise.allSettled(stored));
    const size = group.reduce((sum, { calls }) => sum + calls.length, 0);
    for (const [index, write] of group.entries()) {
      const succeed = (): void => resolveCalls(write, size);
      const fail = (error: unknown): Promise<void> => this.#storeEach(write, error);
      void stored[index]
        ?.finally(parts[index]?.stop)
        .then(succeed, fail)
        .then(() => this.#finish(write.queue));
    }
  }

  /** Starts no group until the event loop has gone round. */
  #pause(): void {
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start(false);
    });
  }

  /** Counts a group as under way until its first attempt has settled, or is slow. */
  #count(attempt: Promise<unknown>): void {
    this.#groups += 1;
    let isCounted = true;
    const stop = (): void => {
      clearTimeout(timer);
      if (!isCounted) return;
      isCounted = false;
      this.#groups -= 1;
      this.#schedule();
    };
    const timer = setTimeout(stop, SLOW_GROUP);
    attempt.then(stop, stop);
  }

  /** Makes a handle ready for its next write, if more appends wait. */
  #finish(queue: HandleQueue): void {
    queue.isActive = queue.calls.length > 0;
    if (!queue.isActive) return;
    this.#ready.push(queue);
    this.#schedule();
  }

  #failAll(error: unknown): void {
    while (this.#ready.length > 0) {
      for (const write of this.#takeGroup()) {
        this.#reject(write, error);
        this.#finish(write.queue);
      }
    }
  }

  /**
   * Stores a write. Never throws or rejects: each call gets its own outcome.
   *
   * @param doubt the error of an earlier attempt that may have stored the events
   */
  #storeWrite(write: HandleWrite, doubt?: unknown): MaybePromise<void> {
    const { append, stop } = appendOf(write);
    const succeed = (): void => {
      stop();
      resolveCalls(write, write.calls.length);
    };
    const fail = (error: unknown): MaybePromise<void> => {
      stop();
      if (write.calls.length > 1) return this.#storeEach(write, error);
      // Any other error would claim that nothing was written.
      this.#reject(write, doubt ?? error);
    };
    try {
      const { request, committed } = this.#parts.prepare(append);
      const stored = after(this.#parts.store().append(request), committed);
      if (stored !== undefined) return stored.then(succeed, fail);
    } catch (error) {
      return fail(error);
    }
    return succeed();
  }

  #reject({ calls }: HandleWrite, error: unknown): void {
    for (const { append, reject } of calls) {
      const { appName, userId, id: sessionId } = append.session;
      const key = { appName, userId, sessionId };
      reject(isSessionError(error) ? this.#parts.explain(error, key) : error);
    }
  }

  async #storeEach({ queue, calls }: HandleWrite, error: unknown): Promise<void> {
    const doubt = mayBeWritten(error) ? error : undefined;
    for (const { append } of calls) append.onRetry?.();
    for (const call of calls) await this.#storeWrite({ queue, calls: [call] }, doubt);
  }
}

function sessionName(session: HandleSnapshot | undefined): string {
  return session === undefined ? '' : `${session.appName}\0${session.userId}\0${session.id}`;
}
