import type { Event } from './event.js';

/** The id of a summary that a view shows is that of its compaction behind this. */
export const SUMMARY_PREFIX = 'adk-view:';

/**
 * Returns whether an event is a summary that a view has made. It is never stored: the framework yields it again when
 * it has pruned thoughts. `false` for a value that is not an event or throws when it is read.
 */
export function isViewSummary(event: Event | null): boolean {
  try {
    const id: unknown = event?.id;
    return typeof id === 'string' && id.startsWith(SUMMARY_PREFIX);
  } catch {
    return false;
  }
}
