/**
 * Where the part of a history may begin that an agent is shown.
 *
 * What a framework makes of the events for its model has to make sense without what lies before: it
 * has to begin with what the user said, since no model takes a conversation that begins with its own
 * words or with a function's answer; no response may lack its call, which models refuse and
 * `@google/adk` throws for; and what the framework resumes or leaves out by itself needs all that it
 * looks at.
 */
import type { Event, Part } from '../model/event.js';

/** The fields of an event that decide. It was stored as JSON, so that anything may stand in them. */
interface Read extends Event {
  readonly isCompacted?: unknown;
  readonly endTime?: unknown;
}

const NONE: ReadonlySet<Part> = new Set();

/**
 * The position, at `latest` or before, of a message of the user with which the events may begin: none
 * of the responses behind it lacks its call, no workflow is in the middle of what it will go on with,
 * and a summary is followed by all that it does not cover.
 *
 * @param latest may be one behind the last event: of none, as little as may be
 * @param isWhole whether the session begins with these events; then 0 will always do
 * @returns `undefined`: it lies before these events
 */
export function windowStart(
  events: readonly Event[],
  latest: number,
  isWhole: boolean,
): number | undefined {
  // A response whose call was never stored must not make the window the whole session.
  const orphans = isWhole ? responsesWithoutCall(events) : NONE;
  const awaited = new Set<string>();
  const summary = new SummarySeen();
  for (let at = events.length; at >= 0; at -= 1) {
    const event = events[at];
    if (event !== undefined) {
      const parts = partsOf(event);
      for (const part of parts) if (!orphans.has(part)) awaited.add(responseId(part));
      for (const part of parts) awaited.delete(callId(part));
      awaited.delete('');
      summary.pass(event);
    }
    const mayBegin = at <= latest && awaited.size === 0 && summary.isFollowedByAll;
    if (!mayBegin || (event !== undefined && !isUserMessage(event))) continue;
    if (!isBehindPausedRun(events, at, isWhole)) return at;
  }
  return isWhole ? 0 : undefined;
}

/**
 * The ids of functions whose responses are among the events, and whose calls are not among `others`
 * nor before them.
 */
export function missingCalls(events: readonly Event[], others: readonly Event[]): Set<string> {
  const missing = new Set<string>();
  for (const event of events) for (const part of partsOf(event)) missing.add(responseId(part));
  missing.delete('');
  // From the end: mostly it is the event before.
  for (let at = others.length - 1; at >= 0 && missing.size > 0; at -= 1) {
    for (const part of partsOf(others[at])) missing.delete(callId(part));
  }
  return missing;
}

/**
 * The last summary that a compactor has made. The framework shows it in the place of all events up to
 * its `endTime`, and behind it those that are later, which were appended before it.
 */
class SummarySeen {
  #endTime: number | undefined;
  #isSeen = false;
  /** Whether all events that are later than what it covers have been passed; on the way backwards. */
  isFollowedByAll = true;

  pass({ isCompacted, endTime, timestamp }: Read): void {
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

/** Whether the user said this, to whoever it was: no function's answer, and no input of a node. */
function isUserMessage(event: Read): boolean {
  const { author, isCompacted, branch, isolationScope } = event;
  if (author !== 'user' || isCompacted === true) return false;
  // Workflows and parallel agents have what they are told appended as the user's, within a turn.
  if (branch !== undefined || isolationScope !== undefined) return false;
  const parts = partsOf(event);
  return parts.length > 0 && !parts.some((part) => isObject(part.functionResponse));
}

/**
 * Whether the events right before that position are of a workflow that has stopped for an answer. The
 * next message may be it, in plain words, and the workflow then finds out from its own events where it
 * was.
 */
function isBehindPausedRun(events: readonly Event[], at: number, isWhole: boolean): boolean {
  const last = events[at - 1];
  if (last === undefined) return !isWhole;
  if (!isObject(last.nodeInfo)) return false;
  for (let before = at - 1; before >= 0; before -= 1) {
    const event = events[before];
    if (event?.invocationId !== last.invocationId) return false;
    if (Array.isArray(event.longRunningToolIds) && event.longRunningToolIds.length > 0) return true;
  }
  // It goes on before what was read.
  return !isWhole;
}

function responsesWithoutCall(events: readonly Event[]): Set<Part> {
  const called = new Set<string>();
  const without = new Set<Part>();
  for (const event of events) {
    const parts = partsOf(event);
    for (const part of parts) called.add(callId(part));
    for (const part of parts) if (!called.has(responseId(part))) without.add(part);
  }
  return without;
}

function partsOf(event: Event | undefined): readonly Part[] {
  const parts: unknown = event?.content?.parts;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

/** `''` for what has none: it could not be told whose it is. */
function callId({ functionCall }: Part): string {
  return idOf(functionCall);
}

function responseId({ functionResponse }: Part): string {
  return idOf(functionResponse);
}

function idOf(value: { id?: unknown } | null | undefined): string {
  return typeof value?.id === 'string' ? value.id : '';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
