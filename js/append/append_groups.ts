import { loadWasm } from '../wasm/core.js';
import { isSessionError } from '../errors/errors.js';
import type { TakenEvent } from './append.js';
import { abortedError, type MaybePromise, requireNotAborted } from '../call/call.js';
import type { HandleRecord, TakenHandle } from '../handle/handle.js';
import { onAbort } from '../call/on_abort.js';

/** The most events in a group. If a group fails, each of its calls is stored once more. */
const LIMIT = 128;

const soon = Promise.resolve();

/** One waiting call of `appendEvent` or `appendEvents`. */
interface Member {
  readonly session: TakenHandle;
  readonly events: readonly TakenEvent[];
  readonly signal: AbortSignal | undefined;
  /**
   * Stops listening to the signal when the member's turn comes. Until then the signal ends the wait
   * at once.
   */
  stopWaiting: () => void;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Stores events through a handle in one write, and changes the handle if that succeeds. */
type Write = (
  session: TakenHandle,
  record: HandleRecord,
  events: readonly TakenEvent[],
  signal: AbortSignal | undefined,
) => MaybePromise<void>;

/**
 * Queues and groups appends over an asynchronous storage.
 *
 * Appends through one handle are stored one after the other, so that none of them makes the handle
 * stale. Appends that wait meanwhile are stored in one write when their turn comes.
 *
 * A group is not atomic: each append succeeds or fails by itself. If the write of a group fails,
 * for whatever reason, its members are stored again one by one, each with its own outcome. A member
 * that is stored already, because only the answer was lost, is found by its event ids.
 */
export class AppendGroups {
  readonly #write: Write;
  /** The waiting members of each handle that has appends waiting or under way. */
  readonly #queues = new Map<HandleRecord, Member[]>();
  /** Handles whose first group is still open for appends of the same tick. */
  readonly #collecting = new Set<HandleRecord>();

  constructor(write: Write) {
    this.#write = write;
  }

  /** Resolves once the events are stored; rejects if they cannot be. */
  add(
    session: TakenHandle,
    record: HandleRecord,
    events: readonly TakenEvent[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const member: Member = {
        session,
        events,
        signal,
        stopWaiting: () => undefined,
        resolve,
        reject,
      };
      const known = this.#queues.get(record);
      const queue = known ?? [];
      queue.push(member);
      if (signal !== undefined) {
        member.stopWaiting = onAbort(signal, () => {
          queue.splice(queue.indexOf(member), 1);
          reject(abortedError(signal));
        });
      }
      if (known !== undefined) return;
      this.#queues.set(record, queue);
      this.#collecting.add(record);
      // Not `queueMicrotask`: Node creates a traceable resource for each of its callbacks.
      void soon.then(() => {
        this.#start(record);
      });
    });
  }

  /** Starts all open groups, so that the call which the service makes next comes after them. */
  flush(): void {
    for (const record of this.#collecting) this.#start(record);
  }

  #start(record: HandleRecord): void {
    const queue = this.#queues.get(record);
    if (this.#collecting.delete(record) && queue !== undefined) this.#drain(record, queue);
  }

  /**
   * Stores one group after the other. Waits only for promises, so that synchronous writes finish in
   * this tick.
   */
  #drain(record: HandleRecord, queue: Member[]): void {
    while (queue.length > 0) {
      const group = takeGroup(queue);
      for (const { stopWaiting } of group) stopWaiting();
      const stored = this.#storeGroup(record, group);
      if (stored !== undefined) {
        void stored.then(() => {
          this.#drain(record, queue);
        });
        return;
      }
    }
    this.#queues.delete(record);
  }

  /** Stores a group. Never throws or rejects: each member gets its own outcome. */
  #storeGroup(record: HandleRecord, group: readonly Member[]): MaybePromise<void> {
    const store = (): MaybePromise<void> => this.#store(record, group.filter(isWanted));
    const fail = (error: unknown): void => {
      for (const { reject } of group) reject(error);
    };
    try {
      return loadWasm()?.then(store, fail) ?? store();
    } catch (error) {
      return fail(error);
    }
  }

  /** @param doubt the error of an earlier attempt that may have stored the events */
  #store(record: HandleRecord, members: readonly Member[], doubt?: unknown): MaybePromise<void> {
    const [first] = members;
    if (first === undefined) return undefined;
    const { signal, stop } = whenNoneWaits(members);
    const succeed = (): void => {
      stop();
      for (const { resolve } of members) resolve();
    };
    const fail = (error: unknown): MaybePromise<void> => {
      stop();
      if (members.length > 1) return this.#storeEach(record, members, error);
      // Any other error would claim that nothing was written.
      first.reject(doubt ?? error);
    };
    try {
      const isOne = members.length === 1;
      const events = isOne ? first.events : members.flatMap(({ events }) => events);
      const written = this.#write(first.session, record, events, signal);
      if (written !== undefined) return written.then(succeed, fail);
    } catch (error) {
      return fail(error);
    }
    return succeed();
  }

  async #storeEach(
    record: HandleRecord,
    members: readonly Member[],
    error: unknown,
  ): Promise<void> {
    const doubt = isSessionError(error, 'connection_lost') ? error : undefined;
    for (const member of members) await this.#store(record, [member], doubt);
  }
}

/**
 * Removes the next group from the queue.
 *
 * All members of a group come through the same object with unchanged fields. A copy by spread
 * shares the record, but it may name another session and has a `lastUpdateTime` of its own.
 *
 * An event id that comes a second time ends the group. If the answer of such a group was lost,
 * storing its members one by one would apply the earlier event again, on top of the later one.
 */
function takeGroup(queue: Member[]): Member[] {
  if (queue.length === 1) return queue.splice(0);
  const first = queue[0]?.session;
  let size = 0;
  const ids = new Set<string>();
  const end = queue.findIndex((member, position) => {
    size += member.events.length;
    const { size: before } = ids;
    for (const { snapshot } of member.events) ids.add(snapshot.id);
    const isAgain = ids.size < before + member.events.length;
    return position > 0 && (size > LIMIT || isAgain || !isSameHandle(member.session, first));
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

function isSameHandle(one: TakenHandle, other: TakenHandle | undefined): boolean {
  return (
    one.given === other?.given &&
    one.appName === other.appName &&
    one.userId === other.userId &&
    one.id === other.id &&
    one.state === other.state &&
    one.events === other.events
  );
}

/**
 * Returns a signal that fires once the signals of all members have fired: one signal must not abort
 * the others' calls.
 */
function whenNoneWaits(members: readonly Member[]): {
  signal: AbortSignal | undefined;
  stop: () => void;
} {
  const signals = new Set(members.map(({ signal }) => signal));
  const nothing = (): void => undefined;
  const [first] = signals;
  if (first === undefined || signals.has(undefined)) return { signal: undefined, stop: nothing };
  if (signals.size === 1) return { signal: first, stop: nothing };
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
function isWanted({ signal, reject }: Member): boolean {
  try {
    requireNotAborted(signal);
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}
