import type { Event } from '../../../values/model/event/event.js';
import type { Session } from '../../../values/model/session.js';
import { callId, missingCalls } from '../../../core/history/calls/call_pairs.js';
import { compactedEndOf } from '../../../core/history/marks.js';
import { partsOf } from '../../../values/model/event/parts.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import { runPlan } from '../../../core/storage/reads/read_plan.js';
import { readBack } from './read_back.js';

/** Reads a session with the last events of its view for models, in one step of the storage. */
type ReadLast<S extends object> = (last: EventCount) => Promise<Session<S> | undefined>;

/**
 * Adds the calls whose responses were appended to handles that lack them. The view for models leaves out calls without a
 * response, calls that a compaction hides, and what lies before its window.
 *
 * Calls that wait for a response may lie anywhere in the past, and no bounded window holds them all.
 * So the calls are read only when a response to them is appended. The events from the call up to the
 * window are then put before the handle's events. A response whose call was never stored causes reads
 * of the whole session.
 */
export class MissingCalls {
  /** Appended events whose calls could not be read, by the handle's `state`. Copies by spread share the state. */
  readonly #responsesToRetry = new WeakMap<object, readonly Event[]>();

  /**
   * Adds to the handle the calls whose responses were appended.
   *
   * Never fails, because the append is stored. If the read fails, the next append through the
   * handle tries again.
   */
  async add<S extends object>(
    session: Session<S>,
    appended: readonly Event[],
    readLast: ReadLast<S>,
  ): Promise<void> {
    const responses = [...(this.#responsesToRetry.get(session.state) ?? []), ...appended];
    this.#responsesToRetry.delete(session.state);
    try {
      await addMissing(session, responses, readLast);
    } catch {
      this.#responsesToRetry.set(session.state, responses);
    }
  }
}

async function addMissing<S extends object>(
  session: Session<S>,
  appended: readonly Event[],
  readLast: ReadLast<S>,
): Promise<void> {
  const { events } = session;
  const stored = appended.filter(({ partial }) => partial !== true);
  const missing = missingCalls(stored, events);
  if (missing.size === 0) return;
  const latestStart = (read: Event[]): number => firstSharedPosition(events, read);
  const read = await runPlan(readBack<S>(true, events.length, latestStart), readLast);
  if (read === undefined || !Object.isExtensible(events)) return;
  const held = events.splice(0);
  for (const event of withCalls(held, read.events, missing)) events.push(event);
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
