import type { Event } from '../../model/event/event.js';
import type { Session } from '../../model/session.js';
import type { EventCount } from '../../model/values/event_count.js';
import { isPromise } from '../../members/is_promise.js';
import { after, type MaybePromise } from '../../call/call.js';
import { callId, missingCalls } from '../../history/calls/call_pairs.js';
import { compactedEndOf } from '../../history/marks.js';
import { partsOf } from '../../model/event/parts.js';
import { EXTRA_EVENTS } from './history_limit.js';
import { windowStart } from './history_window.js';
import { decided, growingRead } from './growing_read.js';

/**
 * Reads a session with its last `last` events, in one step of the storage; `undefined` if it does
 * not exist.
 */
type ReadLast<S extends object> = (last: EventCount) => MaybePromise<Session<S> | undefined>;

/**
 * Implements the option `history`.
 *
 * A read that turns out too short is repeated further back, and its result is dropped. Each read is
 * one step of the storage, so events, state and revision always belong together.
 *
 * Calls that wait for a response may lie anywhere in the past, and no bounded window holds them all.
 * So the calls are read only when a response to them is appended. The events from the call up to the
 * window are then put before the handle's events. A response whose call was never stored causes reads
 * of the whole session as long as the response lies in the window.
 */
export class History {
  readonly #numRecentEvents: number;
  /** The `state` objects of handles that may lack events. Copies by spread share the state. */
  readonly #cappedStates = new WeakSet<object>();
  /** Appended events whose calls could not be read, by the handle's `state`. */
  readonly #responsesToRetry = new WeakMap<object, readonly Event[]>();

  constructor(numRecentEvents: number) {
    this.#numRecentEvents = numRecentEvents;
  }

  /** Reads a session with as many of its events as the option asks for. */
  read<S extends object>(
    readLast: ReadLast<S>,
    skipsCorrupt: boolean,
  ): MaybePromise<Session<S> | undefined> {
    return this.#readBack(readLast, skipsCorrupt, this.#numRecentEvents, ({ length }) => {
      return length - this.#numRecentEvents;
    });
  }

  /**
   * Adds to the handle the calls whose responses were appended. A handle with a window also gets all events after those
   * calls. A handle with the view for models lacks calls without a response, and calls that a compaction hides.
   *
   * Never fails, because the append is stored. If the read fails, the next append through the
   * handle tries again.
   */
  addMissingCalls<S extends object>(
    session: Session<S>,
    appended: readonly Event[],
    readLast: ReadLast<S>,
    isForModels: boolean,
  ): MaybePromise<void> {
    if (!isForModels && !this.#cappedStates.has(session.state)) return undefined;
    const responses = [...(this.#responsesToRetry.get(session.state) ?? []), ...appended];
    this.#responsesToRetry.delete(session.state);
    const retryLater = (): void => {
      this.#responsesToRetry.set(session.state, responses);
    };
    try {
      const result = this.#readMissingCalls(session, responses, readLast);
      return isPromise(result) ? result.catch(retryLater) : result;
    } catch {
      retryLater();
    }
  }

  #readMissingCalls<S extends object>(
    session: Session<S>,
    appended: readonly Event[],
    readLast: ReadLast<S>,
  ): MaybePromise<void> {
    const { events } = session;
    const stored = appended.filter(({ partial }) => partial !== true);
    const missing = missingCalls(stored, events);
    if (missing.size === 0) return undefined;
    const read = this.#readBack(readLast, true, events.length, (read) =>
      firstSharedPosition(events, read),
    );
    return after(read, (read) => {
      if (read === undefined || !Object.isExtensible(events)) return;
      const held = events.splice(0);
      for (const event of withCalls(held, read.events, missing)) events.push(event);
    });
  }

  /**
   * @param latestStart the latest position at which the window may begin; −1 if that lies before these
   *   events
   */
  #readBack<S extends object>(
    readLast: ReadLast<S>,
    skipsCorrupt: boolean,
    wanted: number,
    latestStart: (events: Event[]) => number,
  ): MaybePromise<Session<S> | undefined> {
    let previousLength = -1;
    return growingRead<Session<S> | undefined>(wanted + EXTRA_EVENTS, (last) =>
      after(readLast(last), (session) => {
        if (session === undefined) return decided(undefined);
        const { events, state } = session;
        const { length } = events;
        // If damaged events are left out, a short read may not be the whole session. It is if a longer
        // read has no more events. A view for models may have more events than asked for.
        const isWhole =
          last === 'all' || (length < last && (!skipsCorrupt || length === previousLength));
        const start = windowStart(events, latestStart(events), isWhole);
        previousLength = length;
        if (start === undefined) return undefined;
        if (start > 0 || !isWhole) this.#cappedStates.add(state);
        events.splice(0, start);
        return decided(session);
      }),
    );
  }
}

/** Returns the events of a handle with those that were read for the missing calls, in the order of the store. */
function withCalls(
  held: readonly Event[],
  read: readonly Event[],
  missing: ReadonlySet<string>,
): Event[] {
  const heldIds = new Set(held.map(({ id }) => id));
  const start = firstSharedPosition(held, read);
  const earlier = read.slice(0, Math.max(0, start)).filter(({ id }) => !heldIds.has(id));
  // By the id of the event on the handle that they stand before.
  const added = new Map<string, Event[]>();
  const replaced = new Map<string, Event>();
  let waiting: Event[] = [];
  for (const event of start < 0 ? [] : read.slice(start)) {
    const isCall = partsOf(event).some((part) => missing.has(callId(part)));
    if (!heldIds.has(event.id)) {
      if (isCall) waiting.push(event);
      continue;
    }
    // A summary of the framework ends before what waits.
    if (isCall || compactedEndOf(event) !== undefined) replaced.set(event.id, event);
    added.set(event.id, waiting);
    waiting = [];
  }
  const shown = held.flatMap((event) => [
    ...(added.get(event.id) ?? []),
    replaced.get(event.id) ?? event,
  ]);
  return [...earlier, ...shown];
}

/**
 * Returns the position in `read` of the first of the handle's events that was read; −1 if there is
 * none.
 */
function firstSharedPosition(events: readonly Event[], read: readonly Event[]): number {
  const positions = new Map(read.map(({ id }, position) => [id, position]));
  for (const { id } of events) {
    const position = positions.get(id);
    if (position !== undefined) return position;
  }
  return -1;
}
