/** The end of a view, computed from a session's markers and its last events. */
import { compactedEndOf, compactionOf, isFilled } from '../../history/marks.js';
import { viewOf, type ViewedEvents } from '../../history/view.js';
import type { Event } from '../../model/event/event.js';
import { partsOf } from '../../model/event/parts.js';
import type { ComputedView, HistoryView } from '../../model/values/history_view.js';

/**
 * Computes the last `count` events of a view. The markers, and the first events that rewinds name, decide which of the
 * last stored events the view shows. Returns `undefined` if earlier events may decide too:
 *
 * - The view shows fewer than `count` of the last stored events.
 * - A summary has the author of the last agent's event that it hides, and that event is earlier.
 * - A response belongs to an earlier call. If a compaction hides that call, the response brings it back.
 *
 * @param markers as in `MarkerRows`, read at the same revision
 * @param last the last stored events
 */
export function endOfView(
  markers: readonly Event[],
  last: readonly Event[],
  view: ComputedView,
  count: number,
): Pick<ViewedEvents, 'events' | 'summarised'> | undefined {
  const ids = new Set(last.map(({ id }) => id));
  const earlier = markers.filter(({ id }) => !ids.has(id));
  const stored = [...earlier, ...last];
  const { events, items, summarised } = viewOf(stored, view);
  const start = events.length - count;
  // The first item that is one of the last stored events. A summary before it may stand elsewhere in the whole view.
  const known = items.findIndex(({ event, isSummary }) => event >= earlier.length && !isSummary);
  if (known < 0 || start < known) return undefined;
  const end = { events: events.slice(start), summarised };
  // A transcript has no summaries, and its calls stay where they are.
  if (view === 'transcript' || !stored.some(isCompaction)) return end;
  const calls = new Set<unknown>();
  for (let at = known; at < items.length; at += 1) {
    const { event: index, isSummary, agentEvent = -1 } = items[at]!;
    const event = stored[index]!;
    if (isSummary) {
      const { startTimestamp = 0, endTimestamp = 0 } = compactionOf(event) ?? {};
      // An empty range hides no event, so it has no author to find.
      const isAuthorKnown = agentEvent >= earlier.length || startTimestamp > endTimestamp;
      if (at >= start && !isAuthorKnown) return undefined;
      continue;
    }
    const parts = index < earlier.length ? [] : partsOf(event);
    for (const { functionCall } of parts) calls.add(functionCall?.id);
    const isCallUnknown = parts.some(
      ({ functionResponse }) => isFilled(functionResponse?.id) && !calls.has(functionResponse?.id),
    );
    if (at >= start && isCallUnknown) return undefined;
  }
  return end;
}

function isCompaction(event: Event): boolean {
  return compactionOf(event) !== undefined || compactedEndOf(event) !== undefined;
}

/**
 * Returns whether {@link pageOfView} can compute pages of a view. It cannot tell where the summary of a later compaction
 * stands.
 */
export function hasPages(markers: readonly Event[], view: HistoryView): boolean {
  return view === 'transcript' || !markers.some(isCompaction);
}

/**
 * Computes the last events of a view before an event. Returns `undefined` if other events may decide too: earlier ones,
 * or a later response to a call that a compaction hides.
 *
 * @param markers as in `MarkerRows`, with the event of `eventId` unless that is damaged; see {@link hasPages}
 * @param last the last stored events before that event
 * @param isFromStart whether the session begins with these events
 */
export function pageOfView(
  markers: readonly Event[],
  last: readonly Event[],
  view: ComputedView,
  { eventId, limit }: { readonly eventId: string | undefined; readonly limit: number },
  isFromStart: boolean,
): { readonly events: Event[]; readonly hasOlder: boolean } | undefined {
  const ids = new Set(last.map(({ id }) => id));
  const others = markers.filter(({ id }) => !ids.has(id));
  const found = others.findIndex(({ id }) => id === eventId);
  const isDamaged = eventId !== undefined && found < 0;
  // A damaged event tells which markers are later only if all earlier ones are loaded.
  if (isDamaged && !isFromStart) return undefined;
  const cut = eventId === undefined ? others.length : Math.max(0, found);
  const earlier = others.slice(0, cut);
  const later = others.slice(cut);
  const { events, summarised } = viewOf([...earlier, ...last, ...later], view);
  const startOf = (stored: readonly Event[]): number => {
    const set = new Set(stored);
    const position = events.findIndex((event) => set.has(event));
    return position < 0 ? events.length : position;
  };
  const known = isFromStart ? 0 : startOf([...last, ...later]);
  const end = startOf(later);
  const start = Math.max(0, end - limit);
  const page = events.slice(start, end);
  if (start < known || (!isFromStart && (start === 0 || page.length < limit))) return undefined;
  const mayComeBack = (event: Event): boolean =>
    summarised.has(event.id) && partsOf(event).some(({ functionCall }) => functionCall);
  if (later.length > 0 && page.some(mayComeBack)) return undefined;
  return { events: page, hasOlder: start > 0 };
}
