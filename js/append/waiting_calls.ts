/** The calls that wait on one handle, and the writes that they are combined into. */
import { abortedError, type Call, requireNotAborted } from '../call/call.js';
import { onAbort } from '../call/on_abort.js';
import type { HandleRecord, HandleSnapshot } from '../handle/handle.js';
import type { StorageOperation } from '../model/diagnostic.js';
import type { ExpectedEvents } from '../model/session.js';
import type { Appended } from '../storage/backend.js';
import type { HandlePosition, TitleChange } from '../wasm/appends.js';
import type { AppendRules } from './append_rules.js';
import type { EventToStore } from './event_to_store.js';

/**
 * The most events in a write that combines calls, and in a group of several writes. If a group fails, each of
 * its calls is stored once more.
 */
export const MOST_EVENTS = 128;

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
export interface HandleQueue {
  readonly calls: WaitingCall[];
  /** Whether the handle has appends waiting or under way. */
  isActive: boolean;
}

/** Calls through one handle that are stored in one write. */
export interface HandleWrite {
  readonly queue: HandleQueue;
  readonly calls: readonly WaitingCall[];
  /** The events of all calls. */
  readonly append: HandleAppend;
  /** Stops listening to the signals of the calls. */
  readonly stop: () => void;
}

/** Events to store through a handle, all or none. */
export interface HandleAppend {
  readonly session: HandleSnapshot;
  readonly record: HandleRecord;
  readonly rules: AppendRules;
  readonly events: readonly EventToStore[];
  /** The revision that the session must have. */
  readonly expectedRevision?: number | undefined;
  readonly expectedEvents?: ExpectedEvents | undefined;
  readonly call: Call;
  /** Absent: the events may give a first title. */
  readonly titleChange?: TitleChange | undefined;
  /** Present if a client in another process holds the handle. The session only stands for it. */
  readonly remote?: RemoteHandle | undefined;
}

/** A handle that a client in another process holds. */
export interface RemoteHandle {
  readonly position: HandlePosition;
  /** The title that the client gives to a session without one. */
  readonly firstTitle: string | undefined;
  /** Which write of the client this is. */
  readonly operation: StorageOperation | undefined;
  /** Called after the commit, in place of a change of the handle. */
  readonly receive: (appended: Appended) => void;
}

/** Adds a call to the queue of its handle. Resolves once it is stored, with the number of calls in its transaction. */
export function enqueue({ calls }: HandleQueue, append: HandleAppend): Promise<number> {
  const { signal } = append.call;
  return new Promise((resolve, reject) => {
    const call: WaitingCall = { append, stopWaiting: NOTHING, resolve, reject };
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
export function takeWrite(queue: HandleQueue): HandleWrite | undefined {
  const taken = takeCalls(queue.calls);
  for (const { stopWaiting } of taken) stopWaiting();
  const calls = taken.filter(isWanted);
  return calls.length === 0 ? undefined : writeOf(queue, calls);
}

/** Ends a write: settles its calls, and no longer listens to their signals. */
export function endWrite({ calls, stop }: HandleWrite, settle: (call: WaitingCall) => void): void {
  stop();
  calls.forEach(settle);
}

/** Combines calls into one write, which has a call of its own. */
export function writeOf(queue: HandleQueue, calls: readonly WaitingCall[]): HandleWrite {
  const { append } = calls[0]!;
  if (calls.length === 1) return { queue, calls, append, stop: NOTHING };
  const { signal, stop } = whenNoneWaits(calls);
  const events = calls.flatMap(({ append }) => append.events);
  // The calls are of one service, so all of them have these members, or none.
  const { epoch, onRetry } = append.call;
  const call = { signal, epoch, onRetry: onRetry && ((): void => countRetry(calls)) };
  return { queue, calls, append: { ...append, events, call }, stop };
}

/** Counts a retry for each of the calls. */
export function countRetry(calls: readonly WaitingCall[]): void {
  for (const { append } of calls) append.call.onRetry?.();
}

/**
 * Removes the calls of the next write from the queue.
 *
 * They all come through the same object with unchanged fields. A copy by spread
 * shares the record, but it may name another session and has a `lastUpdateTime` of its own.
 *
 * An event id that comes a second time ends the write. Otherwise, if the answer of the write was lost and its
 * calls were then stored one by one, the earlier event would be applied again, on top of the later one.
 *
 * A call that expects revisions is stored alone: calls before it in the same write would change the session's.
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
    return position > 0 && (size > MOST_EVENTS || isAgain || !canJoin(call, first));
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

function canJoin(
  { append: { session: one, ...append } }: WaitingCall,
  first: WaitingCall | undefined,
): boolean {
  const other = first?.append.session;
  return (
    append.rules === first?.append.rules &&
    append.call.epoch === first.append.call.epoch &&
    !expectsRevisions(append) &&
    !expectsRevisions(first.append) &&
    one.given === other?.given &&
    one.appName === other.appName &&
    one.userId === other.userId &&
    one.id === other.id &&
    one.state === other.state &&
    one.events === other.events
  );
}

function expectsRevisions(append: Omit<HandleAppend, 'session'>): boolean {
  return (append.expectedRevision ?? append.expectedEvents) !== undefined;
}

/**
 * Returns a signal that fires once the signals of all calls have fired: one signal must not abort
 * the others' calls.
 */
function whenNoneWaits(calls: readonly WaitingCall[]): {
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
function isWanted({ append, reject }: WaitingCall): boolean {
  try {
    requireNotAborted(append.call.signal);
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}
