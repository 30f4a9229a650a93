/** Reads a session's events as a view shows them: pages, and the last events. */
import { hasCallParts } from '../../../values/model/event/parts.js';
import { isMarker } from '../../../values/model/event/markers.js';
import { FOR_ALL, marksOf } from '../rules/marks.js';
import { showItems, type ViewedEvents } from '../rules/view.js';
import type { PageRequest, ReadMarkers, ReadPage, ReadPlan } from '../../read.js';
import { find } from '../../storage/reads/read_plan.js';
import {
  type HistoryItems,
  partOfItems,
  type PartRequest,
  type ViewPlace,
  type Undecided,
} from '../../wasm/packed_marks.js';
import type { Event } from '../../../values/model/event/event.js';
import { SUMMARY_PREFIX } from '../../../values/model/event/stored.js';
import type { ComputedView, EventCount } from '../../../values/model/values/read_options.js';
import { readBack, type KnownEvents } from './read_back.js';

/** How often a page is read while other writers change the session. After that, the whole history is read. */
const ATTEMPTS = 3;

/** Plans the reads of a page. The whole history is read only if the page needs it. */
export function* planPage(view: ComputedView, page: PageRequest): ReadPlan<ReadPage | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const markers = yield* find({ ...page, kind: 'markers' });
    const read = markers && (yield* readByMarkers(markers, view, page));
    if (read === undefined) break;
    if (read !== 'changed') return read;
  }
  return yield* readWhole(view, page);
}

/**
 * Reads a page without the whole history. Returns `undefined` if the page needs that, and `'changed'` if the session has
 * changed since the markers were read.
 *
 * Without markers the page is the stored one, unless models get it and it has function calls. Otherwise the whole
 * history is needed for the count of a view, for a page after an event, and for the view for models if there is a
 * compaction. Any other page needs only the markers and the events before it.
 */
function* readByMarkers(
  markers: ReadMarkers,
  view: ComputedView,
  page: PageRequest,
): ReadPlan<ReadPage | 'changed' | undefined> {
  const { created, revision, events } = markers;
  if (!events.some(isMarker)) {
    const stored = yield* find({ ...page, kind: 'page' });
    const isSame = stored?.created === created && stored.revision === revision;
    // Without markers and calls, models get what is stored.
    const isShown = view === 'transcript' || stored?.events?.some(hasCallParts) === false;
    if (isShown) return isSame ? stored : 'changed';
  }
  const { direction, eventId, limit, withCount } = page;
  if (direction === 'after' || withCount) return undefined;
  const found = events.findIndex(({ id }) => id === eventId);
  // If the event is damaged, all markers may be later ones.
  const end = eventId === undefined ? events.length : Math.max(0, found);
  const known = {
    earlier: events.slice(0, end),
    last: [],
    later: events.slice(end),
    firstId: eventId,
    isFromStart: false,
  };
  const isDamaged = eventId !== undefined && found < 0;
  const shown = yield* readBack(page, markers, known, 2 * limit, (known) =>
    // Which markers are later is known only if all earlier ones are loaded.
    isDamaged && !known.isFromStart
      ? { answer: 'needsEarlier', before: 0 }
      : pageOfKnown(known, view, { eventId, limit }),
  );
  if (shown === 'needsAll') return undefined;
  return shown === 'changed' ? shown : { created, ...shown };
}

function* readWhole(
  view: ComputedView,
  { key, direction, eventId, limit, isToEnd, skipCorrupt, isShown }: PageRequest,
): ReadPlan<ReadPage | undefined> {
  // Another page would read the whole history once more.
  const request = { direction, eventId, limit: isToEnd === true ? 'all' : limit, isShown } as const;
  const read = yield* find({ key, skipCorrupt, kind: 'window' });
  return read && { created: read.created, ...pageOfView(read, view, request) };
}

// The core computes the parts of views: tails, which are their last events, and pages. Or it answers that it needs more
// events; see `src/core/view_rules/tail.rs` and `page.rs`.

/** Events of a session. */
interface ReadEvents {
  readonly events: readonly Event[];
  /** Present if the session has older events, or may have; see `ReadSession`. */
  readonly olderInvocations?: readonly string[] | undefined;
}

/** The last events of a view. */
export interface ViewTail extends ViewedEvents {
  /** How many events the view has before them. It is known only if all events are. */
  readonly start: number;
}

/**
 * Computes the last events of a view from the whole history: `count`, or some more so that no response lacks its call.
 */
export function tailOfView(
  { events, olderInvocations }: ReadEvents,
  view: ComputedView,
  count: number,
): ViewTail {
  // All events decide.
  return tailOf(partOf(events, view, { question: 'tail', count }, olderInvocations) as ShownPart);
}

/** Computes the last events of a view from the last stored events. */
export function tailOfKnown(
  { earlier, last, isFromStart }: KnownEvents,
  view: ComputedView,
  count: number,
): ViewTail | Undecided {
  const knownFrom = isFromStart ? undefined : earlier.length;
  const part = partOf([...earlier, ...last], view, { question: 'tail', count, knownFrom });
  return 'answer' in part ? part : tailOf(part);
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
  /**
   * The event that the page follows or ends before. A page may end before a summary too. Absent: the view's end or
   * start.
   */
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
  if ('answer' in part) return undefined;
  const { items } = part;
  const page = pageOf(
    part,
    items.start > 0 || (olderInvocations !== undefined && items.items.length > 0),
  );
  return { ...page, eventCount: olderInvocations === undefined ? items.total : undefined };
}

/** Computes the last events of a view before an event from the last stored events before it. */
export function pageOfKnown(
  { earlier, last, later, isFromStart }: KnownEvents,
  view: ComputedView,
  { eventId, limit: count }: { readonly eventId: string | undefined; readonly limit: number },
): ViewPage | Undecided {
  const knownFrom = earlier.length;
  const place: ViewPlace | undefined =
    eventId === undefined ? undefined : { kind: 'stored', event: knownFrom + last.length };
  const request: PartRequest = { question: 'page', count, place, knownFrom, isFromStart };
  const part = partOf([...earlier, ...last, ...later], view, request);
  return 'answer' in part ? part : pageOf(part, part.items.start > 0);
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
  return 'answer' in items ? items : { ...showItems(stored, marks, items), stored, items };
}

function tailOf({ events, summarised, items }: ShownPart): ViewTail {
  return { events, summarised, start: items.start };
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
