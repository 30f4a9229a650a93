import { loadWasm } from '../wasm/core.js';
import { isSessionError } from '../errors/errors.js';
import type { TakenEvent } from './append.js';
import { abortedError, type MaybePromise, requireNotAborted } from '../call/call.js';
import type { HandleRecord, TakenHandle } from '../handle/handle.js';
import { onAbort } from '../call/on_abort.js';

/** Events of a group, at most: a failure stores each of its calls once more. */
const LIMIT = 128;

const soon = Promise.resolve();

/** One call of `appendEvent` or `appendEvents`. */
interface Member {
  readonly session: TakenHandle;
  readonly events: readonly TakenEvent[];
  readonly signal: AbortSignal | undefined;
  /** Once its turn has come: until then, its signal ends its wait at once. */
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
 * Appends over a storage that makes them wait. Those through one handle are stored one after the other,
 * so that none of them makes it stale; what waits meanwhile is stored in one write when its turn comes.
 *
 * Such a group is no batch: nobody asked for all or none. If its write fails, for whatever reason, its
 * members are stored again one by one, each with its own outcome. Those that are there already, because
 * only the answer was lost, are found by their ids.
 */
export class AppendGroups {
  readonly #write: Write;
  /** What waits, for each handle that has appends waiting or under way. */
  readonly #queues = new Map<HandleRecord, Member[]>();
  /** Handles whose first group is still open for what is appended in the same breath. */
  readonly #collecting = new Set<HandleRecord>();

  constructor(write: Write) {
    this.#write = write;
  }

  /** Settles once the events are stored, or cannot be. */
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
      // Not `queueMicrotask`, for which Node makes a resource that can be traced.
      void soon.then(() => {
        this.#start(record);
      });
    });
  }

  /** Begins what was appended until now, so that the call which is about to be made comes behind it. */
  flush(): void {
    for (const record of this.#collecting) this.#start(record);
  }

  #start(record: HandleRecord): void {
    const queue = this.#queues.get(record);
    if (this.#collecting.delete(record) && queue !== undefined) this.#drain(record, queue);
  }

  /** Waits for nothing that is there or done at once, so that what can be is stored in the same breath. */
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

  /** Never throws or rejects: each member is told of its own outcome. */
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

  /** @param doubt why nobody knows whether an earlier attempt has stored the events */
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
      // Other errors would say that nothing was written.
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
 * Takes the calls out of the queue that go together. Through the same object, as it was: a copy by spread
 * shares the record, but may name another session, and has a `lastUpdateTime` of its own.
 *
 * An id that comes again ends the group. If the answer of such a group was lost, storing its members one by
 * one would apply the earlier event a second time, on top of the later one.
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

/** A signal that fires once those of all members have: one of them must not end what others wait for. */
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

/** Rejects a call whose signal fired before its turn came. */
function isWanted({ signal, reject }: Member): boolean {
  try {
    requireNotAborted(signal);
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}
