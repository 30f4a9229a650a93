/** The events that change which other events count: rewinds, and compactions of Python and of `@google/adk`. */
import { isPlainObject } from '../../json/rules.js';
import type { Content } from './content.js';
import type { Event } from './event.js';

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

/** Returns whether a text is there and not empty. Another program may have stored anything in its place. */
export function isFilled(text: unknown): boolean {
  return text !== undefined && text !== null && text !== '';
}

function memberOf(object: unknown, name: string): unknown {
  return isPlainObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The events of transcripts that a summary stands for. A set, so that the events get no member of ours. */
const summarisedEvents = new WeakSet<Event>();

/** Notes for {@link isSummarised} which events of a transcript a summary stands for. */
export function noteSummarised(events: readonly Event[], summarised: ReadonlySet<string>): void {
  for (const event of events) {
    if (summarised.has(event.id)) summarisedEvents.add(event);
    else summarisedEvents.delete(event);
  }
}

/** Returns whether a summary stands for an event, in the transcript that it was read for. */
export function isSummarised(event: Event): boolean {
  return summarisedEvents.has(event);
}
