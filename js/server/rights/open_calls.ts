import { EVENTS_PER_TASK, nextTask } from '../../core/call/next_task.js';
import { FOR_ALL, marksOf } from '../../core/history/marks.js';
import { openCallItems } from '../../core/wasm/packed_marks.js';
import type { Event } from '../../values/model/event/event.js';
import { answersIn } from './client_event.js';

/** The calls that a client answers, as they are stored. */
export interface AskedCalls {
  /** The names of those that wait for an answer, by id. */
  readonly open: Map<unknown, string>;
  /** The ids of those that a user has answered already. */
  readonly answered: ReadonlySet<unknown>;
}

export const NO_CALLS: AskedCalls = { open: new Map(), answered: new Set() };

/**
 * Finds the calls that wait for the user's answer; see {@link openCallsIn}.
 *
 * @param newestFirst the session's events; reading stops when they decide
 * @param asked the ids of the calls to find
 */
export async function findAskedCalls(
  newestFirst: AsyncIterable<Event>,
  asked: ReadonlySet<unknown>,
): Promise<AskedCalls> {
  const read: Event[] = [];
  const answered = new Set<unknown>();
  let next = 1;
  for await (const event of newestFirst) {
    read.push(event);
    for (const { id } of event.author === 'user' ? answersIn(event) : []) answered.add(id);
    if (read.length % EVENTS_PER_TASK === 0) await nextTask();
    if (read.length < next) continue;
    // Twice as many each time, so that all attempts together take as long as the last one.
    next *= 2;
    const open = openCallsIn(read.toReversed(), asked, false);
    if (open !== undefined) return { open, answered };
  }
  const open = openCallsIn(read.reverse(), asked, true) ?? new Map<unknown, string>();
  return { open, answered };
}

/**
 * Finds the calls that the user may answer: long-running calls of agents and questions of the framework, until the user
 * has answered them or their run was stopped. What was rewound does not count.
 *
 * @param events the last ones of a session
 * @param asked the ids of the calls to find
 * @param isFromStart whether these are all events of the session
 * @returns the names of the open ones among them, by id; `undefined` if earlier events may decide
 */
export function openCallsIn(
  events: readonly Event[],
  asked: ReadonlySet<unknown>,
  isFromStart: boolean,
): Map<unknown, string> | undefined {
  const marks = marksOf(events, FOR_ALL);
  const open = openCallItems(marks, [...asked].map(marks.numberOf), isFromStart);
  if (open === undefined) return undefined;
  const names = new Map<unknown, string>();
  for (const index of open) {
    const { id, name } = marks.callParts[index]!.part.functionCall ?? {};
    if (name !== undefined) names.set(id, name);
  }
  return names;
}
