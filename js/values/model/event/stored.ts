/** Which of the given events are stored. A value that is not an event counts as stored: its snapshot refuses it. */
import type { NewEvent } from './event.js';

/** The id of a summary that a view shows is that of its compaction behind this. */
export const SUMMARY_PREFIX = 'adk-view:';

/** Returns whether an append or an import stores an event: neither partial ones nor summaries of a view. */
export function isStored(event: NewEvent | null): boolean {
  return !isPartial(event) && !isViewSummary(event);
}

/** Returns whether an event is a part of a streamed answer. `false` for a value that throws when it is read. */
export function isPartial(event: NewEvent | null): boolean {
  try {
    return event?.partial === true;
  } catch {
    return false;
  }
}

/**
 * Returns whether an event is a summary that a view has made: the framework yields it again when it has pruned
 * thoughts. `false` for a value that throws when it is read.
 */
export function isViewSummary(event: NewEvent | null): boolean {
  try {
    const id: unknown = event?.id;
    return typeof id === 'string' && id.startsWith(SUMMARY_PREFIX);
  } catch {
    return false;
  }
}
