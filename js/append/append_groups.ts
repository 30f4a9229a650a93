import { loadWasm } from '../wasm/core.js';
import { mayBeWritten } from '../errors/unwritten.js';
import { isSessionError, type SessionError } from '../errors/errors.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { AppendRequest, SessionStore } from '../storage/session_store.js';
import type { AppendAnswer } from '../wasm/protocol.js';
import type { AppendRules } from './append_rules.js';
import type { EventToStore } from './event_to_store.js';
import { abortedError, after, type MaybePromise, requireNotAborted } from '../call/call.js';
import type { HandleRecord, HandleSnapshot } from '../handle/handle.js';
import { onAbort } from '../call/on_abort.js';

/**
 * The most events in a write that combines calls, and in a group of several writes. If a group fails, each of
 * its calls is stored once more.
 */
const LIMIT = 128;

/** The most groups under way at once. Appends that wait meanwhile make the next group larger. */
const MAX_GROUPS = 2;

/** The milliseconds after which a group no longer counts as one of them: another transaction may hold a row. */
const SLOW_GROUP = 100;

const soon = Promise.resolve();

const NOTHING = (): void => undefined;

/** One waiting call of `appendEvent` or `appendEvents`. */
interface WaitingCall {
  readonly append: HandleAppend;
  /**
   * Stops listening to the signal when the call's turn comes. Until then the signal ends the wait
   * at once.
   */
  stopWaiting: () => void;
  readonly resolve: (groupSize: number) => void;
  readonly reject: (reason: unknown) => void;
}

/** The waiting calls of one handle. */
interface HandleQueue {
  readonly calls: WaitingCall[];
  /** Whether the handle has appends waiting or under way. */
  isActive: boolean;
}

/** Calls through one handle that are stored in one write. */
interface HandleWrite {
  readonly queue: HandleQueue;
  readonly calls: readonly WaitingCall[];
}

/** Events to store through a handle, all or none. */
export interface HandleAppend {
  readonly session: HandleSnapshot;
  readonly record: HandleRecord;
  readonly rules: AppendRules;
  readonly events: readonly EventToStore[];
  /** The revision that the session must have. */
  readonly expectedRevision?: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Counts a retry for the call; see {@link StorageCall}. */
  readonly onRetry: (() => void) | undefined;
}

/** A request to append, and what follows its commit. */
export interface PreparedAppend {
  readonly request: AppendRequest;
  /** Called after the commit. */
  readonly committed: (answer: AppendAnswer) => void | Promise<void>;
}

/** The parts that {@link AppendGroups} works with. */
export interface GroupParts {
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
 * because only the answer was lost, is found by its event ids.
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
    const { record, signal } = append;
    return new Promise((resolve, reject) => {
      const call: WaitingCall = { append, stopWaiting: NOTHING, resolve, reject };
      let queue = this.#queues.get(record);
      if (queue === undefined) this.#queues.set(record, (queue = { calls: [], isActive: false }));
      const { calls, isActive } = queue;
      calls.push(call);
      if (signal !== undefined) {
        call.stopWaiting = onAbort(signal, () => {
          calls.splice(calls.indexOf(call), 1);
          reject(abortedError(signal));
        });
      }
      if (isActive) return;
      queue.isActive = true;
      this.#ready.push(queue);
      this.#schedule();
    });
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
          if (typeof setImmediate === 'function') this.#rest();
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

  /** Takes the next writes, each to another session, with about {@link LIMIT} events in all. */
  #takeGroup(): HandleWrite[] {
    const group: HandleWrite[] = [];
    const sessions = new Set<string>();
    let size = 0;
    const ready = this.#ready;
    this.#ready = [];
    for (const queue of ready) {
      const name = sessionName(queue.calls[0]?.append.session);
      if (size >= LIMIT || sessions.has(name)) {
        this.#ready.push(queue);
        continue;
      }
      const taken = takeCalls(queue.calls);
      for (const { stopWaiting } of taken) stopWaiting();
      const calls = taken.filter(isWanted);
      for (const { append } of calls) size += append.events.length;
      if (calls.length === 0) {
        this.#finish(queue);
      } else {
        sessions.add(name);
        group.push({ queue, calls });
      }
    }
    return group;
  }

  #storeGroup(group: readonly HandleWrite[]): void {
    const parts = group.map((write) => appendOf(write));
    let stored: readonly Promise<void>[];
    try {
      const prepared = parts.map(({ append }) => this.#parts.prepare(append));
      const answers = this.#parts.store().appendMany!(prepared.map(({ request }) => request));
      stored = prepared.map(async ({ committed }, index) => committed(await answers[index]!));
    } catch (error) {
      stored = group.map(() => Promise.reject(error as Error));
    }
    this.#count(Promise.allSettled(stored));
    const size = group.reduce((sum, { calls }) => sum + calls.length, 0);
    for (const [index, write] of group.entries()) {
      const succeed = (): void => resolve(write, size);
      const fail = (error: unknown): Promise<void> => this.#storeEach(write, error);
      void stored[index]
        ?.finally(parts[index]?.stop)
        .then(succeed, fail)
        .then(() => this.#finish(write.queue));
    }
  }

  /** Starts no group until the event loop has gone round. */
  #rest(): void {
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
      resolve(write, write.calls.length);
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

/** Resolves the calls of a write with the number of calls in its transaction. */
function resolve({ calls }: HandleWrite, groupSize: number): void {
  for (const { resolve } of calls) resolve(groupSize);
}

/** @returns the append, and a function that stops listening to the signals of the calls */
function appendOf({ calls }: HandleWrite): { append: HandleAppend; stop: () => void } {
  const { append } = calls[0]!;
  if (calls.length === 1) return { append, stop: NOTHING };
  const onRetry = append.onRetry && ((): void => calls.forEach(({ append }) => append.onRetry?.()));
  const { signal, stop } = whenNoneWaits(calls);
  const events = calls.flatMap(({ append }) => append.events);
  return { append: { ...append, events, signal, onRetry }, stop };
}

function sessionName(session: HandleSnapshot | undefined): string {
  return session === undefined ? '' : `${session.appName}\0${session.userId}\0${session.id}`;
}

/**
 * Removes the calls of the next write from the queue.
 *
 * They all come through the same object with unchanged fields. A copy by spread
 * shares the record, but it may name another session and has a `lastUpdateTime` of its own.
 *
 * An event id that comes a second time ends the write. If the answer of such a write was lost,
 * storing its calls one by one would apply the earlier event again, on top of the later one.
 *
 * A call that expects a revision is stored alone: calls before it in the same write would change the revision.
 */
function takeCalls(queue: WaitingCall[]): WaitingCall[] {
  if (queue.length === 1) return queue.splice(0);
  const [first] = queue;
  let size = 0;
  const ids = new Set<string>();
  const end = queue.findIndex((call, position) => {
    const { events } = call.append;
    size += events.length;
    const { size: before } = ids;
    for (const { snapshot } of events) ids.add(snapshot.id);
    const isAgain = ids.size < before + events.length;
    return position > 0 && (size > LIMIT || isAgain || !canJoin(call, first));
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

function canJoin(
  { append: { session: one, rules, expectedRevision } }: WaitingCall,
  first: WaitingCall | undefined,
): boolean {
  const other = first?.append.session;
  return (
    rules === first?.append.rules &&
    (expectedRevision ?? first.append.expectedRevision) === undefined &&
    one.given === other?.given &&
    one.appName === other.appName &&
    one.userId === other.userId &&
    one.id === other.id &&
    one.state === other.state &&
    one.events === other.events
  );
}

/**
 * Returns a signal that fires once the signals of all calls have fired: one signal must not abort
 * the others' calls.
 */
function whenNoneWaits(calls: readonly WaitingCall[]): {
  signal: AbortSignal | undefined;
  stop: () => void;
} {
  const signals = new Set(calls.map(({ append }) => append.signal));
  const [first] = signals;
  if (first === undefined || signals.has(undefined)) return { signal: undefined, stop: NOTHING };
  if (signals.size === 1) return { signal: first, stop: NOTHING };
  const controller = new AbortController();
  const stops = [...signals].flatMap((signal) => {
    if (signal === undefined) return [];
    return onAbort(signal, () => {
      signals.delete(signal);
      if (signals.size === 0) controller.abort(signal.reason);
    });
  });
  return { signal: controller.signal, stop: () => stops.forEach((each) => each()) };
}

/** Returns whether a call is still wanted. Rejects it if its signal has fired. */
function isWanted({ append, reject }: WaitingCall): boolean {
  try {
    requireNotAborted(append.signal);
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}
