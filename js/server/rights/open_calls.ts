import { EVENTS_PER_TASK, nextTask } from '../../core/call/next_task.js';
import { liveEvents } from '../../core/history/view.js';
import { rewindTargetOf } from '../../core/history/marks.js';
import type { Event } from '../../values/model/event/event.js';
import { partsOf } from '../../values/model/event/parts.js';
import { closesCalls, isLongRunning, isQuestion } from '../../values/model/event/waiting.js';
import { answersIn } from './client_event.js';

/**
 * Finds the calls that wait for the user's answer, as google-adk does: the long-running calls of agents and their
 * questions, until the user has answered them. What was rewound does not count.
 *
 * @param newestFirst the session's events; reading stops where the rest cannot matter
 * @param asked the ids of the calls to find
 * @returns the names of the open ones among them, by id
 */
export async function findOpenCalls(
  newestFirst: AsyncIterable<Event>,
  asked: ReadonlySet<unknown>,
): Promise<Map<unknown, string>> {
  const missing = new Set(asked);
  const read: Event[] = [];
  let isRewound = false;
  for await (const event of newestFirst) {
    read.push(event);
    if (read.length % EVENTS_PER_TASK === 0) await nextTask();
    isRewound ||= rewindTargetOf(event) !== undefined;
    for (const { id } of waitingCallsOf(event)) missing.delete(id);
    if (missing.size === 0 && !isRewound) break;
  }
  const open = new Map<unknown, string>();
  for (const event of liveEvents(read.reverse())) {
    for (const { id, name } of waitingCallsOf(event)) if (asked.has(id)) open.set(id, name);
    if (closesCalls(event)) for (const { id } of answersIn(event)) open.delete(id);
  }
  return open;
}

function waitingCallsOf(event: Event): { id: string; name: string }[] {
  if (event.author === 'user') return [];
  return partsOf(event).flatMap(({ functionCall = {} }) => {
    const { id, name } = functionCall;
    if (id === undefined || name === undefined) return [];
    const isWaiting = isQuestion(functionCall) || isLongRunning(event, functionCall);
    return isWaiting ? [{ id, name }] : [];
  });
}
