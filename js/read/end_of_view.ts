/** The end of a view, computed from a session's markers and its last events. */
import { compactedEndOf, compactionOf, isFilled } from '../history/marks.js';
import { viewOf, type ViewedEvents } from '../history/view.js';
import type { Event } from '../model/event/event.js';
import { partsOf } from '../model/event/parts.js';
import type { HistoryView } from '../model/session.js';

/**
 * Computes the last `count` events of a view. All markers, and the first events that rewinds name, decide which of the
 * last stored events the view shows. Returns `undefined` if earlier events may decide as well:
 *
 * - The last stored events have fewer than `count` events of the view.
 * - A summary takes its author from an agent's event that is earlier.
 * - A response answers an earlier call. If a compaction hides that call, the response brings it back.
 *
 * @param markers as in `MarkerRows`, read at the same revision
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
  // The first of the last events that the view shows. A summary before it may stand elsewhere in the whole view.
  const known = items.findIndex(({ event, isSummary }) => event >= first && !isSummary);
  if (known < 0 || start < known) return undefined;
  // A transcript has no summaries, and its calls stay where they are.
  const hides = view === 'model' && list.some(isCompaction);
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

function isCompaction(event: Event): boolean {
  return compactionOf(event) !== undefined || compactedEndOf(event) !== undefined;
}

/** Returns whether {@link pageOfView} can compute pages of a view. It cannot place summaries of later compactions. */
export function hasPages(markers: readonly Event[], view: HistoryView): boolean {
  return view === 'transcript' || !markers.some(isCompaction);
}

/**
 * Computes the last events of a view before an event. Returns `undefined` if events that are not given may decide:
 * earlier ones, or a later response to a call that a compaction hides.
 *
 * @param markers as in `MarkerRows`, with the event of `eventId` if there is one; see {@link hasPages}
 * @param last the last stored events before that event
 * @param isFirst whether no event is stored before them
 */
export function pageOfView(
  markers: readonly Event[],
  last: readonly Event[],
  view: Exclude<HistoryView, 'raw'>,
  { eventId, limit }: { readonly eventId: string | undefined; readonly limit: number },
  isFirst: boolean,
): { readonly events: Event[]; readonly hasOlder: boolean } | undefined {
  const ids = new Set(last.map(({ id }) => id));
  const others = markers.filter(({ id }) => !ids.has(id));
  const place = others.findIndex(({ id }) => id === eventId);
  const [first, later] = place < 0 ? [others.length, []] : [place, others.slice(place)];
  const list = [...others.slice(0, first), ...last, ...later];
  const { events, summarised } = viewOf(list, view);
  const position = (index: number): number => {
    const rest = new Set(list.slice(index));
    const first = events.findIndex((event) => rest.has(event));
    return first < 0 ? events.length : first;
  };
  const [known, end] = [isFirst ? 0 : position(first), position(first + last.length)];
  const start = Math.max(0, end - limit);
  const page = events.slice(start, end);
  if (start < known || (!isFirst && (start === 0 || page.length < limit))) return undefined;
  const mayComeBack = (event: Event): boolean =>
    summarised.has(event.id) && partsOf(event).some(({ functionCall }) => functionCall);
  if (later.length > 0 && page.some(mayComeBack)) return undefined;
  return { events: page, hasOlder: start > 0 };
}
