/** Where an agent's window of the last events starts, and the calls that a handle lacks for appended responses. */
import { compactedEndOf } from '../../values/model/event/markers.js';
import { nextLast, type Plan, runPlan } from '../../core/storage/reads/read_plan.js';
import { isObject } from '../../values/json/rules.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { partsOf } from '../../values/model/event/parts.js';
import type { Session } from '../../values/model/session.js';
import type { EventCount } from '../../values/model/values/read_options.js';

/**
 * Returns the ids of function calls whose responses are in `events`, and whose calls are not in
 * `others`.
 */
function missingCalls(events: readonly Event[], others: readonly Event[]): Set<string> {
  const missing = new Set<string>();
  for (const event of events) for (const part of partsOf(event)) missing.add(responseId(part));
  missing.delete('');
  // From the end, since the call mostly lies in the event just before.
  for (let index = others.length - 1; index >= 0 && missing.size > 0; index -= 1) {
    for (const part of partsOf(others[index])) missing.delete(callId(part));
  }
  return missing;
}

/** Returns the call's id, or `''` if it has none: nothing could match it to a response. */
export function callId({ functionCall }: Part): string {
  return idOrEmpty(functionCall);
}

/** Returns the id of a response's call, or `''`. */
export function responseId({ functionResponse }: Part): string {
  return idOrEmpty(functionResponse);
}

function idOrEmpty(value: { id?: unknown } | null | undefined): string {
  return typeof value?.id === 'string' ? value.id : '';
}

// Where an agent's window of the view for models may begin.
//
// The framework turns these events into a request for its model, which must make sense without the
// events before.
// - The window begins with a message of the user. No model takes a conversation that begins with
//   the model's own words or with a function's response.
// - No response may lack its call. Models refuse such a request, and `@google/adk` throws.
// - The window holds all events that the framework itself looks at to resume a run or to leave out
//   events.

/** The fields of a compactor's summary. Stored JSON may hold any value in them. */
interface CompactedEvent extends Event {
  readonly isCompacted?: unknown;
  readonly endTime?: unknown;
}

/**
 * Returns the last position, up to `latest`, at which the window may begin: that of a message of the user. From there
 * on, each response has its call, and a summary is followed by all events that it does not cover. No workflow waits
 * for an answer there.
 *
 * @param latest the last position allowed; `events.length` allows a window without events
 * @param isWhole whether the session begins with these events; position 0 is then always allowed
 * @returns `undefined` if the window begins before these events
 */
function windowStart(
  events: readonly Event[],
  latest: number,
  isWhole: boolean,
): number | undefined {
  const awaited = new Set<string>();
  const summary = new SummaryTracker();
  for (let position = events.length; position >= 0; position -= 1) {
    const event = events[position];
    if (event !== undefined) {
      const parts = partsOf(event);
      for (const part of parts) awaited.add(responseId(part));
      for (const part of parts) awaited.delete(callId(part));
      awaited.delete('');
      summary.visit(event);
    }
    const isPossibleStart = position <= latest && awaited.size === 0 && summary.isFollowedByAll;
    if (!isPossibleStart || (event !== undefined && !isUserMessage(event))) continue;
    if (!isAfterPausedRun(events, position, isWhole)) return position;
  }
  return isWhole ? 0 : undefined;
}

/**
 * Tracks the last summary made by a compactor. The framework shows the summary in place of all
 * events up to its `endTime`. After it come the later events, which were appended before the
 * summary.
 */
class SummaryTracker {
  #endTime: number | undefined;
  #isSeen = false;
  /**
   * Whether the backward walk has passed all events that are later than the summary's `endTime`.
   */
  isFollowedByAll = true;

  visit({ isCompacted, endTime, timestamp }: CompactedEvent): void {
    if (isCompacted === true) {
      if (!this.#isSeen && typeof endTime === 'number') {
        this.#endTime = endTime;
        this.isFollowedByAll = false;
      }
      this.#isSeen = true;
    } else if (this.#endTime !== undefined && timestamp <= this.#endTime) {
      this.isFollowedByAll = true;
    }
  }
}

/**
 * Returns whether the event is a message of the user, written or spoken, and not a function's response or a
 * workflow node's input.
 */
function isUserMessage(event: CompactedEvent): boolean {
  const { author, isCompacted, branch, isolationScope } = event;
  if (author !== 'user' || isCompacted === true) return false;
  // Within a turn, the inputs of workflow nodes and parallel agents are stored with the author
  // `user`.
  if (branch !== undefined || isolationScope !== undefined) return false;
  const parts = partsOf(event);
  if (parts.length === 0) return isObject(event.inputTranscription);
  return !parts.some((part) => isObject(part.functionResponse));
}

/**
 * Returns whether the events right before that position belong to a workflow that has stopped for
 * an answer. The next message may be that answer in plain words. The workflow then reads from its
 * own events where it was.
 */
function isAfterPausedRun(events: readonly Event[], position: number, isWhole: boolean): boolean {
  const last = events[position - 1];
  if (last === undefined) return !isWhole;
  if (!isObject(last.nodeInfo)) return false;
  for (let before = position - 1; before >= 0; before -= 1) {
    const event = events[before];
    if (event?.invocationId !== last.invocationId) return false;
    if (Array.isArray(event.longRunningToolIds) && event.longRunningToolIds.length > 0) return true;
  }
  // The workflow's run began before these events.
  return !isWhole;
}

/** Events to read beyond the wanted number. Most turns begin within so many events. */
const EXTRA_EVENTS = 16;

/**
 * A plan of reads of one session, each with so many of the last events of its view for models, in one step of the
 * storage.
 */
export type ReadBack<S extends object> = Plan<
  EventCount,
  Session<S> | undefined,
  Session<S> | undefined
>;

/**
 * Reads a session back to where an agent's window may begin; see {@link windowStart}.
 *
 * A read that turns out too short is repeated further back, and its result is dropped. Each read is
 * one step of the storage, so events, state and revision always belong together.
 *
 * @param wanted the number of events that the window has at least
 * @param latestStart the latest position at which the window may begin; −1 if that lies before these
 *   events
 */
export function* readBack<S extends object>(
  skipsCorrupt: boolean,
  wanted: number,
  latestStart: (events: Event[]) => number,
): ReadBack<S> {
  const first = wanted + EXTRA_EVENTS;
  let previousLength = -1;
  let last: EventCount = Number.isSafeInteger(first) ? first : 'all';
  for (; ; last = nextLast(last)) {
    const session = yield last;
    if (session === undefined) return undefined;
    const { events } = session;
    const { length } = events;
    // If damaged events are left out, a short read may not be the whole session. It is if a longer
    // read has no more events. A view for models may have more events than asked for.
    const isWhole =
      last === 'all' || (length < last && (!skipsCorrupt || length === previousLength));
    const start = windowStart(events, latestStart(events), isWhole);
    previousLength = length;
    if (start === undefined) continue;
    events.splice(0, start);
    return session;
  }
}

/** Reads a session with the last events of its view for models, in one step of the storage. */
type ReadLast<S extends object> = (last: EventCount) => Promise<Session<S> | undefined>;

/**
 * Adds the calls whose responses were appended to handles that lack them. The view for models leaves out calls without
 * a response, calls that a compaction hides, and what lies before its window.
 *
 * Calls that wait for a response may lie anywhere in the past, and no bounded window holds them all.
 * So the calls are read only when a response to them is appended. The events from the call up to the
 * window are then put before the handle's events. A response whose call was never stored causes reads
 * of the whole session.
 */
export class MissingFunctionCalls {
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
