/**
 * Parts of views: tails, which are their last events, and pages. The core computes them, or answers that it needs more
 * events; see `src/core/view_rules/tail.rs` and `page.rs`.
 */
import type { Event } from '../../../values/model/event/event.js';
import { SUMMARY_PREFIX } from '../../../values/model/event/view_summary.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import {
  followsView,
  type HistoryItems,
  partOfItems,
  type PartRequest,
  type ViewPlace,
  type Undecided,
} from '../../../core/wasm/packed_marks.js';
import { FOR_ALL, marksOf } from '../../../core/history/marks.js';
import { showItems, type ViewedEvents } from '../../../core/history/view.js';

/** Events of a session. */
interface ReadEvents {
  readonly events: readonly Event[];
  /** Present if the session has older events, or may have; see `ReadSession`. */
  readonly olderInvocations?: readonly string[] | undefined;
}

/** The last events of a view. */
export interface ViewTail extends ViewedEvents {
  /** The stored events that the view for models makes them of, in append order. */
  readonly sources: readonly Event[];
  /** How many events the view has before them. */
  readonly start: number;
  /** The index in `events` of the first of the last `TailSize.within` events; 0 if that is absent. */
  readonly within: number;
  /** The compaction that ends last. */
  readonly lastCompaction: Event | undefined;
}

/** How many of a view's last events are asked for. A tail may be longer, so that no response lacks its call. */
export interface TailSize {
  readonly count: number;
  /** A smaller number of last events. `ViewTail.within` tells where they begin in the tail. */
  readonly within?: number;
}

/** Computes the last events of a view. */
export function tailOfView(
  { events, olderInvocations }: ReadEvents,
  view: ComputedView,
  { count, within }: TailSize,
): ViewTail {
  const request: PartRequest = { question: 'tail', count, within };
  // All events decide.
  return tailOf(partOf(events, view, request, olderInvocations) as ShownPart);
}

/**
 * Computes the last events of a view from the last stored events.
 *
 * @param markers as in `MarkerRows`, read at the same revision
 */
export function tailOfLast(
  markers: readonly Event[],
  last: readonly Event[],
  view: ComputedView,
  { count, within }: TailSize,
): ViewTail | Undecided {
  const ids = new Set(last.map(({ id }) => id));
  const earlier = markers.filter(({ id }) => !ids.has(id));
  const request: PartRequest = { question: 'tail', count, within, knownFrom: earlier.length };
  const part = partOf([...earlier, ...last], view, request);
  return typeof part === 'string' ? part : tailOf(part);
}

/**
 * Computes the last events of the view for models from the sources of an earlier tail, and what follows them.
 *
 * @param firstId the id of the first event of that tail
 * @param isWhole whether the view begins with that tail
 */
export function continuedTail(
  events: readonly Event[],
  firstId: string | undefined,
  isWhole: boolean,
  count: number,
): ViewTail | Undecided {
  const place = firstId === undefined ? undefined : placeOf(events, firstId, 'shown');
  if (firstId !== undefined && place === undefined) return 'needsEarlier';
  const part = partOf(events, 'model', { question: 'tail', count, place, isFromStart: isWhole });
  return typeof part === 'string' ? part : tailOf(part);
}

/**
 * Returns whether later events follow a view as new ones do, and change nothing of what it showed.
 *
 * @param known the compaction that ends last, and the visible events or the sources of a tail
 */
export function followsTail(
  known: readonly Event[],
  later: readonly Event[],
  view: ComputedView,
): boolean {
  const marks = marksOf([...known, ...later], FOR_ALL);
  return followsView(marks, view, known.length);
}

/** A page of a view. */
export interface ViewPage {
  readonly events: Event[];
  readonly hasOlder: boolean;
  /** The ids of the events that the cursors of the page name. Absent if there is none. */
  readonly firstId: string | undefined;
  readonly lastId: string | undefined;
  /** How many events the view has; `undefined` if that is not known. */
  readonly eventCount: number | undefined;
}

/** Which page is asked for. */
export interface ViewPageRequest {
  readonly direction: 'before' | 'after';
  /** The event that the page follows or ends before. A page may end before a summary too. Absent: the view's end or start. */
  readonly eventId: string | undefined;
  readonly limit: EventCount;
  /** Whether the page ends where the view shows the event, and not where it is stored. */
  readonly isShown?: boolean | undefined;
}

/** Computes a page from the whole history. Returns `undefined` if no such event is stored or shown. */
export function pageOfView(
  { events, olderInvocations }: ReadEvents,
  view: ComputedView,
  { direction, eventId, limit, isShown = false }: ViewPageRequest,
): ViewPage | undefined {
  const isAfter = direction === 'after';
  const place =
    eventId === undefined ? undefined : placeOf(events, eventId, isShown ? 'shown' : 'stored');
  const isMissing = isAfter && place?.kind === 'summary';
  if (eventId !== undefined && (place === undefined || isMissing)) return undefined;
  const count = limit === 'all' ? undefined : limit;
  const request: PartRequest = { question: 'page', count, place, isAfter, isFromStart: true };
  const part = partOf(events, view, request, olderInvocations);
  if (typeof part === 'string') return undefined;
  const { items } = part;
  const page = pageOf(
    part,
    items.start > 0 || (olderInvocations !== undefined && items.items.length > 0),
  );
  return { ...page, eventCount: olderInvocations === undefined ? items.total : undefined };
}

/**
 * Computes the last events of a view before an event from the last stored events before it.
 *
 * @param markers as in `MarkerRows`, with the event of `eventId` unless that is damaged
 * @param last the last stored events before that event
 * @param isFromStart whether the session begins with these events
 */
export function pageOfLast(
  markers: readonly Event[],
  last: readonly Event[],
  view: ComputedView,
  { eventId, limit }: { readonly eventId: string | undefined; readonly limit: number },
  isFromStart: boolean,
): ViewPage | Undecided {
  const ids = new Set(last.map(({ id }) => id));
  const others = markers.filter(({ id }) => !ids.has(id));
  const found = others.findIndex(({ id }) => id === eventId);
  const isDamaged = eventId !== undefined && found < 0;
  // A damaged event tells which markers are later only if all earlier ones are loaded.
  if (isDamaged && !isFromStart) return 'needsEarlier';
  const cut = eventId === undefined ? others.length : Math.max(0, found);
  const stored = [...others.slice(0, cut), ...last, ...others.slice(cut)];
  const place: ViewPlace | undefined =
    eventId === undefined ? undefined : { kind: 'stored', event: cut + last.length };
  const request: PartRequest = {
    question: 'page',
    count: limit,
    place,
    knownFrom: cut,
    isFromStart,
  };
  const part = partOf(stored, view, request);
  return typeof part === 'string' ? part : pageOf(part, part.items.start > 0);
}

/** A part of a view, and the stored events that its numbers name. */
interface ShownPart extends ViewedEvents {
  readonly stored: readonly Event[];
  readonly items: HistoryItems;
}

function partOf(
  stored: readonly Event[],
  view: ComputedView,
  request: PartRequest,
  older?: readonly string[],
): ShownPart | Undecided {
  const marks = marksOf(stored, FOR_ALL, older);
  const items = partOfItems(marks, view, request);
  return typeof items === 'string' ? items : { ...showItems(stored, marks, items), stored, items };
}

function tailOf({ events, summarised, stored, items }: ShownPart): ViewTail {
  const { start, within, lastCompaction } = items;
  return {
    ...{ events, summarised, start, within },
    sources: items.sources.map((event) => stored[event]!),
    lastCompaction: lastCompaction === undefined ? undefined : stored[lastCompaction],
  };
}

function pageOf({ events, stored, items }: ShownPart, hasOlder: boolean): ViewPage {
  const { first = -1, last = -1 } = items;
  // An empty page has no cursor to go on from.
  return {
    events,
    hasOlder,
    firstId: stored[first]?.id,
    lastId: stored[last]?.id,
    eventCount: undefined,
  };
}

/** Returns the place of an event, or of a summary by its own id. */
function placeOf(
  events: readonly Event[],
  eventId: string,
  kind: 'stored' | 'shown',
): ViewPlace | undefined {
  const indexOf = (wanted: string): number => events.findIndex(({ id }) => id === wanted);
  const event = indexOf(eventId);
  if (event >= 0) return { kind, event };
  const isSummary = eventId.startsWith(SUMMARY_PREFIX);
  const compaction = isSummary ? indexOf(eventId.slice(SUMMARY_PREFIX.length)) : -1;
  return compaction < 0 ? undefined : { kind: 'summary', event: compaction };
}
