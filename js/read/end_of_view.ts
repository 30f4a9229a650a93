/** The end of a view, computed from a session's markers and its last events. */
import { compactedEndOf, compactionOf, isFilled } from '../history/marks.js';
import { viewOf, type ViewedEvents } from '../history/view.js';
import type { Event } from '../model/event/event.js';
import { partsOf } from '../model/event/parts.js';
import type { HistoryView } from '../model/session.js';

/**
 * Computes the last `count` events of a view. With all markers and the first events that rewinds name, the rules know
 * for each of the last stored events what the whole history would say. Returns `undefined` if earlier events may decide:
 *
 * - The last stored events have fewer than `count` events of the view.
 * - A summary has the author of an agent's event that is earlier.
 * - A response answers an earlier call, which it brings back if a compaction hides it.
 *
 * @param markers as in `MarkerRows`, of the same moment
 * @param last the last stored events
 */
export function endOfView(
  markers: readonly Event[],
  last: readonly Event[],
  view: Exclude<HistoryView, 'raw'>,
  count: number,
): Pick<ViewedEvents, 'events' | 'summarised'> | undefined {
  const ids = new Set(last.map(({ id }) => id));
  const list = markers.filter(({ id }) => !ids.has(id));
  const first = list.length;
  for (const event of last) list.push(event);
  const { events, items, summarised } = viewOf(list, view);
  const start = events.length - count;
  // A summary before that event may stand elsewhere.
  const known = items.findIndex(({ event, isSummary }) => event >= first && !isSummary);
  if (known < 0 || start < known) return undefined;
  const hides = list.some((event) => compactionOf(event) ?? compactedEndOf(event));
  const calls = new Set<unknown>();
  for (let at = known; hides && at < items.length; at += 1) {
    const { event, isSummary, agentEvent = -1 } = items[at]!;
    const stored = list[event]!;
    if (isSummary) {
      const { startTimestamp = 0, endTimestamp = 0 } = compactionOf(stored) ?? {};
      if (at >= start && agentEvent < first && startTimestamp <= endTimestamp) return undefined;
      continue;
    }
    const parts = event < first ? [] : partsOf(stored);
    for (const { functionCall } of parts) calls.add(functionCall?.id);
    const isUnknown = parts.some(
      ({ functionResponse }) => isFilled(functionResponse?.id) && !calls.has(functionResponse?.id),
    );
    if (at >= start && isUnknown) return undefined;
  }
  return { events: events.slice(start), summarised };
}
