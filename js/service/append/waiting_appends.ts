/** The calls that wait in one queue, and the writes that they are combined into. */
import { abortedError, type Call, requireNotAborted } from '../../core/call/call.js';
import { onAbort } from '../../core/call/time_limit.js';
import type { HandleSnapshot } from '../../core/handle/handle.js';
import type { HandleFacts } from '../../core/handle/handle_facts.js';
import type { EventSnapshot } from '../../values/model/event/snapshot.js';
import type { Appended } from '../../core/storage/store.js';
import type { AppendWrite, ReadyAppend } from '../../core/write.js';
import type { EventToStore, StateWriter } from './state_writer.js';

/**
 * The most events in a write that combines calls, and in a group of several writes. If a group fails, each of
 * its calls is stored once more.
 */
export const MOST_EVENTS = 128;

const NOTHING = (): void => undefined;

/** One waiting call of `appendEvent` or `appendEvents`. */
interface WaitingAppend {
  readonly append: QueuedAppend;
  /**
   * Stops listening to the signal when the call's turn comes. Until then the signal ends the wait
   * at once.
   */
  stopWaiting: () => void;
  readonly resolve: (stored: StoredAppend) => void;
  readonly reject: (reason: unknown) => void;
}

/** The waiting calls of one queue. */
export interface AppendQueue {
  readonly calls: WaitingAppend[];
  /** Whether the queue has appends waiting or under way. */
  isActive: boolean;
}

/** Calls of one queue that are stored in one write. */
export interface JoinedAppends {
  readonly queue: AppendQueue;
  readonly calls: readonly WaitingAppend[];
  /** The append of all calls. */
  readonly append: QueuedAppend;
  /** Stops listening to the signals of the calls. */
  readonly stop: () => void;
}

/** An append that waits for its turn. */
export type QueuedAppend = { readonly call: Call } & (
  | {
      readonly write: AppendWrite;
      /** Observes what is written. */
      readonly handle: ObservingHandle;
    }
  | {
      /** It has its place: a client in another process holds the handle. */
      readonly write: ReadyAppend;
      readonly handle?: undefined;
    }
);

/** A handle that an append changes after the commit, with the caller's events. */
export interface ObservingHandle {
  readonly session: HandleSnapshot;
  readonly facts: HandleFacts;
  readonly writer: StateWriter;
  /** The events of the write, in the same order. */
  readonly events: readonly EventToStore[];
  readonly snapshots: readonly EventSnapshot[];
  /** Whether the last event is the message of a run. */
  readonly beginsRun: boolean;
}

/** The outcome of an append. */
export interface StoredAppend {
  readonly appended: Appended;
  /** The number of calls that were stored in the same transaction. */
  readonly groupSize: number;
}

/** Adds a call to its queue. Resolves once it is stored. */
export function enqueue({ calls }: AppendQueue, append: QueuedAppend): Promise<StoredAppend> {
  const { signal } = append.call;
  return new Promise((resolve, reject) => {
    const call: WaitingAppend = { append, stopWaiting: NOTHING, resolve, reject };
    // Before the push: if the host's signal throws, nothing is stored.
    if (signal !== undefined) {
      call.stopWaiting = onAbort(signal, () => {
        calls.splice(calls.indexOf(call), 1);
        reject(abortedError(signal));
      });
    }
    calls.push(call);
  });
}

/** Takes the calls of the next write from a queue; `undefined` if no call of them is still wanted. */
export function takeJoined(queue: AppendQueue): JoinedAppends | undefined {
  const taken = takeCalls(queue.calls);
  for (const { stopWaiting } of taken) stopWaiting();
  const calls = taken.filter(isWanted);
  return calls.length === 0 ? undefined : joinedOf(queue, calls);
}

/** Ends a write: settles its calls, and no longer listens to their signals. */
export function endJoined(
  { calls, stop }: JoinedAppends,
  settle: (call: WaitingAppend) => void,
): void {
  stop();
  calls.forEach(settle);
}

/** Combines calls into one write, which has a call of its own. */
export function joinedOf(queue: AppendQueue, calls: readonly WaitingAppend[]): JoinedAppends {
  const { append } = calls[0]!;
  const { handle } = append;
  // An append without a handle is alone in its queue.
  if (calls.length === 1 || handle === undefined) return { queue, calls, append, stop: NOTHING };
  const { signal, stop } = whenNoneWaits(calls);
  const appends = calls.map(({ append }) => append);
  const write = {
    ...append.write,
    events: appends.flatMap(({ write }) => write.events),
    firstTitle: appends.find(({ write }) => write.firstTitle)?.write.firstTitle,
  };
  const events = appends.flatMap(({ handle }) => handle?.events ?? []);
  const snapshots = events.map(({ snapshot }) => snapshot);
  // The calls are of one service, so all of them have these members, or none.
  const { store, onRetry } = append.call;
  const call = { signal, store, onRetry: onRetry && ((): void => countRetry(calls)) };
  return { queue, calls, append: { write, handle: { ...handle, events, snapshots }, call }, stop };
}

/** Counts a retry for each of the calls. */
export function countRetry(calls: readonly WaitingAppend[]): void {
  for (const { append } of calls) append.call.onRetry?.();
}

/**
 * Removes the calls of the next write from the queue.
 *
 * They all come through the same object with unchanged fields. A copy by spread shares the facts, but it may name
 * another session and has a `lastUpdateTime` of its own.
 *
 * An event id that comes a second time ends the write. Otherwise, if the answer of the write was lost and its
 * calls were then stored one by one, the earlier event would be applied again, on top of the later one.
 *
 * A call that expects revisions is stored alone: calls before it in the same write would change the session's.
 */
function takeCalls(queue: WaitingAppend[]): WaitingAppend[] {
  if (queue.length === 1) return queue.splice(0);
  const [first] = queue;
  let size = 0;
  const ids = new Set<string>();
  const end = queue.findIndex((call, position) => {
    const { events } = call.append.write;
    size += events.length;
    const { size: before } = ids;
    for (const { id } of events) ids.add(id);
    const isAgain = ids.size < before + events.length;
    return position > 0 && (size > MOST_EVENTS || isAgain || !canJoin(call.append, first?.append));
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

function canJoin(append: QueuedAppend, first: QueuedAppend | undefined): boolean {
  const [one, other] = [append.handle?.session, first?.handle?.session];
  return (
    one !== undefined &&
    append.handle?.writer === first?.handle?.writer &&
    append.write.stale === first?.write.stale &&
    append.call.store === first.call.store &&
    !isConditional(append.write) &&
    !isConditional(first.write) &&
    one.given === other?.given &&
    one.appName === other.appName &&
    one.userId === other.userId &&
    one.id === other.id &&
    one.state === other.state &&
    one.events === other.events
  );
}

/** Whether a write expects revisions, or asks for a run. */
function isConditional(write: AppendWrite): boolean {
  const { expectedRevision, expectedEvents, run } = write;
  return (expectedRevision ?? expectedEvents ?? run) !== undefined;
}

/**
 * Returns a signal that fires once the signals of all calls have fired: one signal must not abort
 * the others' calls.
 */
function whenNoneWaits(calls: readonly WaitingAppend[]): {
  signal: AbortSignal | undefined;
  stop: () => void;
} {
  const signals = new Set(calls.map(({ append }) => append.call.signal));
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
function isWanted({ append, reject }: WaitingAppend): boolean {
  try {
    requireNotAborted(append.call.signal);
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}
