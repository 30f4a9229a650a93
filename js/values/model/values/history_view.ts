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
