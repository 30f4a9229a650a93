import type { Event } from '../model/event/event.js';
import { historyItems } from '../wasm/core.js';
import { marksOf, rewindTargetOf } from './marks.js';

/** Returns the events without what rewinds have undone, and without the rewinds. Compactions remain. */
export function liveEvents(events: readonly Event[]): readonly Event[] {
  if (!events.some((event) => rewindTargetOf(event) !== undefined)) return events;
  const marks = marksOf(events, {
    counts: () => false,
    visibilityOf: () => 'fixed',
    rewindsOnly: true,
  });
  return historyItems(marks, 'transcript').items.map(({ event }) => events[event]!);
}
