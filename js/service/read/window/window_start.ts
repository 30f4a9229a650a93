/**
 * Finds where an agent's window of the view for models may begin.
 *
 * The framework turns these events into a request for its model, which must make sense without the
 * events before.
 * - The window begins with a message of the user. No model takes a conversation that begins with
 *   the model's own words or with a function's response.
 * - No response may lack its call. Models refuse such a request, and `@google/adk` throws.
 * - The window holds all events that the framework itself looks at to resume a run or to leave out
 *   events.
 */
import { isObject } from '../../../values/json/rules.js';
import type { Event } from '../../../values/model/event/event.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { callId, responseId } from '../../../core/history/calls/call_pairs.js';

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
export function windowStart(
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
