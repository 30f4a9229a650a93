/**
 * Histories: rewinds, branches, forks, and views of what counts after rewinds and compactions.
 *
 * `histories.ts` has what users call. Histories are verbs of every store; see `withHistories` of
 * `js/service/service_history.ts`.
 *
 * This file makes the marks.
 */
import {
  compactedEndOf,
  compactionOf,
  isFilled,
  rewindTargetOf,
} from '../../../values/model/event/markers.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { Call } from '../../call/call.js';
import type { RewindStart } from '../../read.js';
import type { Store } from '../../storage/store.js';
import type { HistoryMarks, Mark } from '../../wasm/packed_marks.js';
import { MARK_KINDS } from '../../wasm/protocol.js';
import { type CallMarks, callMarksOf } from './call_marks.js';

/** Returns whether a compaction counts for a reader of all branches and scopes: it must have neither. */
function countsForAll(compaction: Event): boolean {
  return !isFilled(compaction.isolationScope) && !isFilled(compaction.branch);
}

/** The kinds of events that are not markers; see `Kind` in `src/core/view_rules/mod.rs`. */
export type Visibility = 'fixed' | 'content' | 'filtered';

/** How a reader sees events. */
export interface Reading {
  /** Whether a compaction of Python counts. */
  readonly counts: (compaction: Event) => boolean;
  readonly visibilityOf: (event: Event) => Visibility;
}

/** How all agents together see events: compactions of one branch or scope do not count. */
export const FOR_ALL: Reading = {
  counts: countsForAll,
  visibilityOf: (event) =>
    isFilled(event.content) && !isFilled(event.isolationScope) ? 'content' : 'fixed',
};

const NO_INVOCATION = -1;

/** Makes the marks of events, with those of their function calls. */
export function marksOf(
  events: readonly Event[],
  reading: Reading,
  older?: readonly string[],
): HistoryMarks & CallMarks {
  return { ...eventMarksOf(events, reading, older), ...callMarksOf(events, makeNumbering()) };
}

/**
 * Makes the marks of events without those of their function calls.
 *
 * @param older the invocations that begin before the events
 */
export function eventMarksOf(
  events: readonly Event[],
  { counts, visibilityOf }: Reading,
  older: readonly string[] = [],
): HistoryMarks {
  const invocations = makeNumbering();
  const marks = events.map((event): Mark => {
    const { invocationId, timestamp: time } = event;
    const invocation = isFilled(invocationId) ? invocations(invocationId) : NO_INVOCATION;
    const target = rewindTargetOf(event);
    if (target !== undefined) {
      const { rewind: kind } = MARK_KINDS;
      return { kind, invocation, time, first: invocations(target), second: 0 };
    }
    const compaction = compactionOf(event);
    if (compaction !== undefined) {
      const kind = counts(event) ? MARK_KINDS.compaction : MARK_KINDS.otherCompaction;
      const { startTimestamp: first, endTimestamp: second } = compaction;
      return { kind, invocation, time, first, second };
    }
    const compactedEnd = compactedEndOf(event);
    if (compactedEnd !== undefined) {
      return { kind: MARK_KINDS.compacted, invocation, time, first: compactedEnd, second: 0 };
    }
    const visibility = visibilityOf(event);
    const content = event.author === 'user' ? MARK_KINDS.message : MARK_KINDS.answer;
    const kind = visibility === 'content' ? content : MARK_KINDS[visibility];
    return { kind, invocation, time, first: 0, second: 0 };
  });
  return { marks, older: older.map(invocations) };
}

/** Returns a function that gives each new name the next number, from 0 up. */
function makeNumbering(): (name: unknown) => number {
  const numbers = new Map<unknown, number>();
  return (name) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
}

/**
 * Finds where each rewind among some events of a session starts. Returns `undefined` without rewinds, and over a server
 * whose answer would have said it.
 */
export async function rewindStarts(
  store: Pick<Store, 'read' | 'traits'>,
  key: CompositeSessionKey,
  events: readonly Event[],
  call: Call,
): Promise<RewindStart[] | undefined> {
  const targets = rewindTargets(events);
  if (targets.size === 0 || store.traits.views === undefined) return undefined;
  const read = { key, skipCorrupt: true };
  const markers = await store.read({ ...read, kind: 'markers' }, call);
  if (markers !== undefined) return startsIn(markers.events, targets);
  const session = await store.read({ ...read, last: 'all', kind: 'window' }, call);
  return session && startsIn(session.events, targets);
}

/** Returns the invocations that rewinds among events name. */
export function rewindTargets(events: readonly Event[]): ReadonlySet<string> {
  return new Set(events.flatMap((event) => rewindTargetOf(event) ?? []));
}

/**
 * Returns where rewinds before these invocations start.
 *
 * @param events all of a session, or those of `MarkerRows`
 */
export function startsIn(events: readonly Event[], targets: ReadonlySet<string>): RewindStart[] {
  const first = new Map<string, string>();
  for (const { id, invocationId } of events) {
    if (!first.has(invocationId)) first.set(invocationId, id);
  }
  return [...targets].map((invocationId) => ({ invocationId, eventId: first.get(invocationId) }));
}
