import { mayBeWritten } from '../../values/errors/errors.js';
import type { Appended, Store } from '../../core/storage/store.js';
import type { ReadyAppend } from '../../core/write.js';
import {
  countRetry,
  endJoined,
  enqueue,
  type AppendQueue,
  type JoinedAppends,
  MOST_EVENTS,
  type QueuedAppend,
  type StoredAppend,
  takeJoined,
  joinedOf,
} from './waiting_appends.js';
import { keyText } from '../../values/model/values/ids.js';

/** The most groups under way at once. Appends that wait meanwhile make the next group larger. */
const MAX_GROUPS = 2;

/** The milliseconds after which a group no longer counts as one of them: another transaction may hold a row. */
const SLOW_GROUP = 100;

const soon = Promise.resolve();

/** An append with its place, and what follows its commit. */
export interface PreparedAppend {
  readonly ready: ReadyAppend;
  /** Called after the commit. */
  readonly written: (appended: Appended) => void;
}

/** The parts that {@link AppendGroups} works with. */
interface GroupParts {
  /** Returns the store. Called only once `load` returns `undefined`. */
  readonly store: () => Store;
  /**
   * Begins to load what the store needs. Returns `undefined` once it is loaded.
   *
   * @param atOnce see `loadWasm`
   */
  readonly load: (atOnce: boolean) => Promise<void> | undefined;
  /** Whether an append is done when the call returns, once the wasm is loaded. */
  readonly isSynchronous: boolean;
  /** Gives an append its place. Changes nothing, because it may be called again. */
  readonly prepare: (append: QueuedAppend) => PreparedAppend;
}

/**
 * Queues and groups appends. This is the one place that does so.
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
  readonly #queues = new WeakMap<object, AppendQueue>();
  /** The queues of handles with waiting appends and none under way, in the order of their turns. */
  #ready: AppendQueue[] = [];
  /** The number of groups under way that later appends wait for. */
  #groups = 0;
  /** Whether the next group starts by itself, in this tick or the next. */
  #isScheduled = false;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  /** Stores events in memory, at once. Returns `undefined` if something has to be waited for. */
  addNow(append: QueuedAppend): StoredAppend | undefined {
    const { isSynchronous, load } = this.#parts;
    if (!isSynchronous || this.#ready.length > 0 || load(true) !== undefined) return undefined;
    const appended = this.#appendNow(append);
    return appended && { appended, groupSize: 1 };
  }

  #appendNow(append: QueuedAppend): Appended | undefined {
    const { sync } = this.#parts.store();
    if (sync === undefined || append.write.mutation !== undefined) return undefined;
    const { ready, written } = this.#parts.prepare(append);
    const appended = sync.append(ready, append.call);
    written(appended);
    return appended;
  }

  /**
   * Stores what waited for the wasm in memory, at once, so that it comes before later calls. Returns `false` if nothing
   * is stored: {@link AppendGroups.#store} then tells each call why.
   */
  #storeNow(joined: JoinedAppends): boolean {
    try {
      const appended = this.#appendNow(joined.append);
      if (appended === undefined) return false;
      const groupSize = joined.calls.length;
      endJoined(joined, ({ resolve }) => resolve({ appended, groupSize }));
    } catch {
      return false;
    }
    this.#finish(joined.queue);
    return true;
  }

  /** Stores events. Appends through one handle are stored one after the other. */
  add(append: QueuedAppend): Promise<StoredAppend> {
    // An append without a handle here waits for no other.
    const ordered = append.handle?.facts ?? append;
    let queue = this.#queues.get(ordered);
    if (queue === undefined) this.#queues.set(ordered, (queue = { calls: [], isActive: false }));
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
   * Starts groups once the store is loaded.
   *
   * After a group of several sessions the event loop goes on first: a storage may have taken milliseconds for it
   * without a pause. Browsers have no immediates and no such storage, and the timers of a hidden page may take a
   * minute.
   *
   * @param isAll whether to start more groups than should be under way at once
   */
  #start(isAll: boolean): void {
    if (this.#ready.length === 0) return;
    try {
      const loading = this.#parts.load(false);
      if (loading !== undefined) {
        loading.then(
          () => this.#start(isAll),
          (error: unknown) => this.#failAll(error),
        );
        return;
      }
      const isMany = this.#parts.store().writeAll !== undefined;
      while (this.#ready.length > 0 && (isAll || !isMany || this.#groups < MAX_GROUPS)) {
        if (this.#isScheduled && !isAll && isMany) return;
        const group = this.#takeGroup();
        if (group.length === 0) continue;
        for (const joined of isMany ? [group] : group.map((each) => [each])) {
          if (this.#parts.isSynchronous && this.#storeNow(joined[0]!)) continue;
          for (const [index, outcome] of this.#store(joined).entries()) {
            void outcome.then(() => this.#finish(joined[index]!.queue));
          }
        }
        if (isMany && group.length > 1 && typeof setImmediate === 'function') this.#pause();
      }
    } catch (error) {
      this.#failAll(error);
    }
  }

  /** Takes the next joined appends, each to another session, with about {@link MOST_EVENTS} events in all. */
  #takeGroup(): JoinedAppends[] {
    const group: JoinedAppends[] = [];
    const sessions = new Set<string>();
    let size = 0;
    const ready = this.#ready;
    this.#ready = [];
    for (const queue of ready) {
      const [first] = queue.calls;
      const name = first === undefined ? '' : keyText(first.append.write.key);
      if (size >= MOST_EVENTS || sessions.has(name)) {
        this.#ready.push(queue);
        continue;
      }
      const next = takeJoined(queue);
      if (next === undefined) {
        this.#finish(queue);
        continue;
      }
      for (const { append } of next.calls) size += append.write.events.length;
      sessions.add(name);
      group.push(next);
    }
    return group;
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
  #count(attempts: readonly Promise<unknown>[]): void {
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
    void Promise.allSettled(attempts).then(stop);
  }

  /** Makes a handle ready for its next turn, if more appends wait. */
  #finish(queue: AppendQueue): void {
    queue.isActive = queue.calls.length > 0;
    if (!queue.isActive) return;
    this.#ready.push(queue);
    this.#schedule();
  }

  #failAll(error: unknown): void {
    while (this.#ready.length > 0) {
      for (const each of this.#takeGroup()) {
        endJoined(each, ({ reject }) => reject(error));
        this.#finish(each.queue);
      }
    }
  }

  /**
   * Stores writes, several of them in one transaction. Never throws or rejects: each call gets its own outcome.
   *
   * @param earlier an attempt that failed, with its error if it may have stored the events
   * @returns for each write when its calls have their outcomes
   */
  #store(joined: readonly JoinedAppends[], earlier?: { readonly doubt: unknown }): Promise<void>[] {
    const size = joined.reduce((sum, { calls }) => sum + calls.length, 0);
    let attempts: Promise<Appended>[];
    const prepared: PreparedAppend[] = [];
    try {
      for (const { append } of joined) prepared.push(this.#parts.prepare(append));
      const ready = prepared.map(
        ({ ready }, index) => [ready, joined[index]!.append.call] as const,
      );
      const store = this.#parts.store();
      attempts = ready.length === 1 ? [store.write(...ready[0]!)] : [...store.writeAll!(ready)];
    } catch (error) {
      attempts = joined.map(() => Promise.reject(error as Error));
    }
    if (earlier === undefined) this.#count(attempts);
    return joined.map(async (each, index) => {
      try {
        const appended = await attempts[index]!;
        prepared[index]!.written(appended);
        endJoined(each, ({ resolve }) => resolve({ appended, groupSize: size }));
      } catch (error) {
        if (size > 1) return this.#storeEach(each, error);
        // Any other error would claim that nothing was written.
        endJoined(each, ({ reject }) => reject(earlier?.doubt ?? error));
      }
    });
  }

  async #storeEach({ queue, calls, stop }: JoinedAppends, error: unknown): Promise<void> {
    stop();
    const doubt = mayBeWritten(error) ? error : undefined;
    countRetry(calls);
    for (const call of calls) await this.#store([joinedOf(queue, [call])], { doubt })[0];
  }
}
