/** What the rules of views need to know of events; see `src/core/history`. */
import type { Content } from '../model/event/content.js';
import type { Event } from '../model/event/event.js';
import { isPlainObject } from '../json/rules.js';
import type { PackedMarks } from '../wasm/core.js';
import { MARK_KINDS } from '../wasm/protocol.js';
import { type CallMarks, callMarksOf } from './calls/call_marks.js';

/** A compaction of Python. Its times are in milliseconds. */
export interface Compaction {
  readonly startTimestamp: number;
  readonly endTimestamp: number;
  readonly compactedContent: Content;
}

/** Returns the invocation before which an event rewinds, if it is the marker of a rewind. */
export function rewindTargetOf(event: Event): string | undefined {
  const target = memberOf(event.actions, 'rewindBeforeInvocationId');
  return typeof target === 'string' && target !== '' ? target : undefined;
}

/** Returns the compaction of an event of Python. An event with a malformed one is an ordinary event. */
export function compactionOf(event: Event): Compaction | undefined {
  const compaction = memberOf(event.actions, 'compaction');
  if (!isPlainObject(compaction)) return undefined;
  const { startTimestamp, endTimestamp, compactedContent } = compaction;
  const isWhole =
    Number.isFinite(startTimestamp) &&
    Number.isFinite(endTimestamp) &&
    isPlainObject(compactedContent);
  return isWhole ? (compaction as unknown as Compaction) : undefined;
}

/** Returns the time of the last event that a compacted event of `@google/adk` replaces. */
export function compactedEndOf(event: Event): number | undefined {
  if (memberOf(event, 'isCompacted') !== true) return undefined;
  const end = memberOf(event, 'endTime');
  return typeof end === 'number' && Number.isFinite(end) ? end : undefined;
}

/** Returns whether an event changes which other events count. */
export function isMarker(event: Event): boolean {
  return (
    rewindTargetOf(event) !== undefined ||
    compactionOf(event) !== undefined ||
    compactedEndOf(event) !== undefined
  );
}

/** Returns whether a compaction counts for a reader of all branches and scopes: it must have neither. */
export function countsForAll(compaction: Event): boolean {
  return !isFilled(compaction.isolationScope) && !isFilled(compaction.branch);
}

/** Returns whether a text is there and not empty. Another program may have stored anything in its place. */
export function isFilled(text: unknown): boolean {
  return text !== undefined && text !== null && text !== '';
}

/** The kinds of events that are not markers; see `Kind` in `src/core/history`. */
export type Visibility = 'fixed' | 'content' | 'filtered';

/** How a reader sees events. */
export interface Reading {
  /** Whether a compaction of Python counts. */
  readonly counts: (compaction: Event) => boolean;
  readonly visibilityOf: (event: Event) => Visibility;
  /** Whether compactions are ordinary events. */
  readonly rewindsOnly?: boolean;
}

/** How many numbers a mark has. */
const MARK_LENGTH = 5;
const NO_INVOCATION = -1;

/** Makes the marks of events. */
export function marksOf(
  events: readonly Event[],
  { counts, visibilityOf, rewindsOnly = false }: Reading,
): PackedMarks & CallMarks {
  const marks = new Float64Array(events.length * MARK_LENGTH);
  const invocations = makeNumbering();
  events.forEach((event, at) => {
    const { invocationId, timestamp } = event;
    const invocation = isFilled(invocationId) ? invocations(invocationId) : NO_INVOCATION;
    const mark = [MARK_KINDS.filtered, invocation, timestamp, 0, 0];
    const target = rewindTargetOf(event);
    const compaction = rewindsOnly ? undefined : compactionOf(event);
    const compactedEnd = rewindsOnly ? undefined : compactedEndOf(event);
    if (target !== undefined) {
      mark[0] = MARK_KINDS.rewind;
      mark[3] = invocations(target);
    } else if (compaction !== undefined) {
      mark[0] = counts(event) ? MARK_KINDS.compaction : MARK_KINDS.otherCompaction;
      mark[3] = compaction.startTimestamp;
      mark[4] = compaction.endTimestamp;
    } else if (compactedEnd !== undefined) {
      mark[0] = MARK_KINDS.compacted;
      mark[3] = compactedEnd;
    } else {
      const visibility = visibilityOf(event);
      const content = event.author === 'user' ? MARK_KINDS.message : MARK_KINDS.answer;
      mark[0] = visibility === 'content' ? content : MARK_KINDS[visibility];
    }
    marks.set(mark, at * MARK_LENGTH);
  });
  return { marks, ...callMarksOf(events, makeNumbering()) };
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

function memberOf(object: unknown, name: string): unknown {
  return isPlainObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}
