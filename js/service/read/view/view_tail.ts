/** The end of a view, computed from a session's markers and its last events. */
import { pairedStart } from '../../../core/history/calls/call_pairs.js';
import { compactedEndOf, compactionOf, isMarker } from '../../../core/history/marks.js';
import type { HistoryItem } from '../../../core/wasm/packed_marks.js';
import { liveEvents, viewOf, type ViewedEvents } from '../../../core/history/view.js';
import type { Event } from '../../../values/model/event/event.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { tellsWhatWaits } from '../../../values/model/event/waiting.js';
import type { ComputedView, HistoryView } from '../../../values/model/values/history_view.js';

/** The last events of a view. */
export interface ViewTail extends Pick<ViewedEvents, 'events' | 'summarised'> {
  /** The stored events that the view for models makes them of, in append order. */
  readonly sources: readonly Event[];
}

/**
 * Computes the last `count` events of a view, or some more so that no response lacks its call. The markers, and the first
 * events that rewinds name, decide which of the last stored events the view shows. Returns `undefined` if earlier events
 * may decide too:
 *
 * - The view shows fewer than `count` of the last stored events.
 * - A summary has the author of the last agent's event that it hides, and stands before the events of its range that
 *   wait. The loaded events must go back to the start of its range.
 * - A response belongs to an earlier call.
 * - A question waits until an agent has read its answer, and the last event of an agent is not loaded.
 * - A summary of the framework ends before the first event of an invocation that waits. That may be any event.
 *
 * @param markers as in `MarkerRows`, read at the same revision
 * @param last the last stored events
 */
export function viewTailOf(
  markers: readonly Event[],
  last: readonly Event[],
  view: ComputedView,
  count: number,
): ViewTail | undefined {
  const ids = new Set(last.map(({ id }) => id));
  const earlier = markers.filter(({ id }) => !ids.has(id));
  const stored = [...earlier, ...last];
  const viewed = viewOf(stored, view);
  const items = itemsIn(viewed);
  // The first item that is one of the last stored events. A summary before it may stand elsewhere in the whole view.
  const known = items.findIndex(({ event, isSummary }) => event >= earlier.length && !isSummary);
  const start = startOf(viewed.events, count, view);
  if (count > 0 && (known < 0 || start < known)) return undefined;
  const end = partFrom(stored, viewed, start, view);
  // A transcript has no summaries, and its calls stay where they are.
  if (view === 'transcript') return end;
  const shown = items.slice(start);
  // A summary has the index of its compaction, which is later than what it stands among.
  const first = shown.reduce((first, { event }) => Math.min(first, event), shown[0]?.event ?? 0);
  const isUnsure = [...viewed.cutResponses].some((index) => index >= first);
  if (isUnsure) return undefined;
  const { waiting } = viewed;
  const waitsEarlier = waiting.some((index) => index < earlier.length);
  if (waitsEarlier && !hasAgentEvent(stored, earlier.length)) return undefined;
  const isCompacted = stored.some((event) => compactedEndOf(event) !== undefined);
  if (waiting.length > 0 && isCompacted) return undefined;
  if (shown.length === 0 && count > 0) return undefined;
  const oldest = last.reduce((time, { timestamp }) => Math.min(time, timestamp), Infinity);
  for (const [at, { event, isSummary, agentEvent = -1, follows = -1 }] of items.entries()) {
    // Without what waits a summary would stand behind the event that it follows.
    const mayBeShown = at >= start || (shown.length > 0 && follows >= first);
    const { startTimestamp = 0, endTimestamp = 0 } = compactionOf(stored[event]!) ?? {};
    // An empty range hides no event.
    if (!isSummary || !mayBeShown || startTimestamp > endTimestamp) continue;
    if (agentEvent < earlier.length || oldest >= startTimestamp) return undefined;
  }
  return end;
}

/** Returns whether one of the events from a position on is an agent's, and no rewind has undone it. */
function hasAgentEvent(stored: readonly Event[], from: number): boolean {
  const live = new Set(liveEvents(stored));
  return stored.slice(from).some((event) => event.author !== 'user' && live.has(event));
}

/** Returns the last events of a whole view, at least `count`. */
export function lastOfView(
  stored: readonly Event[],
  viewed: ViewedEvents,
  view: ComputedView,
  count: number,
): ViewTail {
  const start = Math.max(0, startOf(viewed.events, count, view));
  return partFrom(stored, viewed, start, view);
}

/** Returns where the last `count` events of a view begin; below 0 if it has fewer. */
export function startOf(events: readonly Event[], count: number, view: ComputedView): number {
  const start = events.length - count;
  return view === 'transcript' || start < 0 ? start : pairedStart(events, start);
}

function partFrom(
  stored: readonly Event[],
  viewed: ViewedEvents,
  start: number,
  view: ComputedView,
): ViewTail {
  const { events, summarised } = viewed;
  const end = { events: events.slice(start), summarised };
  if (view === 'transcript') return { ...end, sources: [] };
  const items = itemsIn(viewed);
  const shown = items.slice(start).map(({ event }) => event);
  const oldest = shown.reduce((time, event) => Math.min(time, stored[event]!.timestamp), Infinity);
  const isNeeded = ({ event, isSummary }: HistoryItem, at: number): boolean =>
    // An earlier compaction may hide these events too.
    isSummary && (at >= start || (compactionOf(stored[event]!)?.endTimestamp ?? 0) >= oldest);
  const indices = new Set<number>();
  let isAfterNeeded = false;
  items.forEach((item, at) => {
    const isNeededSummary = isNeeded(item, at);
    // What waits stands behind its summary. When it waits no more, that stands elsewhere.
    isAfterNeeded ||= isNeededSummary;
    if (isAfterNeeded || at >= start) indices.add(item.event);
    if (!isNeededSummary) return;
    if (item.agentEvent !== undefined) indices.add(item.agentEvent);
    if (item.follows !== undefined) indices.add(item.follows);
  });
  // A call that is left out for now stands between the shown events, or after them.
  const first = shown.reduce((first, event) => Math.min(first, event), Infinity);
  const isInView = new Set(items.map(({ event }) => event));
  stored.forEach((event, index) => {
    const isLeftOut = viewed.cutCalls.has(index) && !isInView.has(index) && !isMarker(event);
    if (isLeftOut && index >= first) indices.add(index);
  });
  for (const index of sourcesOfWaiting(stored, viewed)) indices.add(index);
  const sources = [...indices].sort((one, other) => one - other).map((index) => stored[index]!);
  return { ...end, sources };
}

/**
 * Returns the indices of the live events that tell what waits: those from the first one at which an invocation waits. With
 * them the earliest event of each invocation that waits, before which a summary of the framework ends, and the last event
 * of an agent, which has read the answers before it.
 */
function sourcesOfWaiting(stored: readonly Event[], { waiting }: ViewedEvents): number[] {
  const [first] = waiting;
  if (first === undefined) return [];
  const live = new Set(liveEvents(stored));
  const earliest = new Map(waiting.map((index) => [stored[index]!.invocationId, index]));
  const sources: number[] = [];
  stored.forEach((event, index) => {
    if (!live.has(event)) return;
    const known = earliest.get(event.invocationId);
    if (known !== undefined && event.timestamp < stored[known]!.timestamp) {
      earliest.set(event.invocationId, index);
    }
    if (index >= first && tellsWhatWaits(event)) sources.push(index);
  });
  sources.push(...earliest.values());
  const lastOfAgent = stored.findLastIndex((event) => event.author !== 'user' && live.has(event));
  return lastOfAgent < 0 ? sources : [...sources, lastOfAgent];
}

/** Returns the items of a view; without any, each event is shown as it is stored. */
function itemsIn({ events, items }: ViewedEvents): readonly HistoryItem[] {
  if (items.length > 0) return items;
  return events.map((_, event) => ({
    event,
    isSummary: false,
    agentEvent: undefined,
    follows: undefined,
  }));
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
  const stored = [...earlier, ...last, ...later];
  const { events, summarised, cutCalls, cutResponses } = viewOf(stored, view);
  const positionOf = (stored: readonly Event[]): number => {
    const set = new Set(stored);
    const position = events.findIndex((event) => set.has(event));
    return position < 0 ? events.length : position;
  };
  const known = isFromStart ? 0 : positionOf([...last, ...later]);
  const end = positionOf(later);
  const isForModels = view === 'model';
  // A response after the page may belong to a call that seems to have none.
  const isCut = [...cutCalls, ...cutResponses].some((index) => index >= earlier.length);
  if (isForModels && isCut && (eventId !== undefined || !isFromStart)) return undefined;
  const wanted = Math.max(0, end - limit);
  const start = isForModels ? Math.min(wanted, pairedStart(events.slice(0, end), wanted)) : wanted;
  const page = events.slice(start, end);
  if (start < known || (!isFromStart && (start === 0 || page.length < limit))) return undefined;
  const mayComeBack = (event: Event): boolean =>
    summarised.has(event.id) && partsOf(event).some(({ functionCall }) => functionCall);
  if (later.length > 0 && page.some(mayComeBack)) return undefined;
  return { events: page, hasOlder: start > 0 };
}
