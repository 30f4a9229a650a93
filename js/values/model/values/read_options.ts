/** What a read may say: how many events, for which reader, and from where. */

/** A number of events, or all of a session. */
export type EventCount = number | 'all';

/** Returns whether so many events are at least as many as are needed. */
export function isEnough(count: EventCount, needed: EventCount): boolean {
  return count === 'all' || (needed !== 'all' && count >= needed);
}

/** Returns the larger of two numbers of events. */
export function mostOf(one: EventCount, other: EventCount): EventCount {
  return isEnough(one, other) ? one : other;
}

/**
 * Which events of a history a reader gets.
 *
 * - `'raw'`: all, as they are stored.
 * - `'transcript'`: those for a person. Undone turns and the markers of rewinds and compactions are left out.
 * - `'model'`: those for the agents of `@google/adk`. The summary of a compaction of Python replaces the events that
 *   it sums up.
 */
export type HistoryView = 'raw' | 'transcript' | 'model';

/** A view that is computed from the stored events. */
export type ComputedView = Exclude<HistoryView, 'raw'>;

export const HISTORY_VIEWS = ['raw', 'transcript', 'model'] as const satisfies HistoryView[];

/**
 * Where a read looks first. `'cache-first'`: at the local copy, which is then revalidated in the background.
 * `'network-first'`: at the remote, and after `readTimeoutMs` or without a connection at the copy. `'cache-only'`: at
 * the copy, without any request.
 */
export type ReadPolicy = 'cache-first' | 'network-first' | 'cache-only';
