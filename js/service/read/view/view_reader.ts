/** Reads sessions, as a view shows them; see `js/core/history`. */
import { isSessionError } from '../../../values/errors/errors.js';
import { hasCallParts } from '../../../core/history/calls/call_marks.js';
import { isMarker } from '../../../core/history/marks.js';
import { noteSummarised, viewOf } from '../../../core/history/view.js';
import type { Event } from '../../../values/model/event/event.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import { copyJson } from '../../../values/json/copy.js';
import { putLast } from '../../../values/members/bounded_map.js';
import type { ChangedSession, WindowRequest, ReadSession } from '../../../core/read.js';
import type { StoreTraits } from '../../../core/storage/store.js';
import { find, type ReadPlan } from '../../../core/storage/reads/read_plan.js';
import { MOST_CHANGED } from '../../../core/wasm/protocol.js';
import {
  continuedTail,
  followsTail,
  tailOfLast,
  type TailSize,
  tailOfView,
  type ViewTail,
} from './view_parts.js';
import { nextLast } from '../../../core/storage/reads/growing_read.js';
import { sessionName } from '../../../values/model/values/session_name.js';

/** What a view is computed from. */
interface ViewSource {
  /** The request without a window. */
  readonly request: WindowRequest;
  readonly view: ComputedView;
}

/** The last events of a view, or all of them, with the read of the last stored events. */
interface ReadTail extends ViewTail {
  readonly read: ReadSession;
  /** Whether the view has no earlier events. */
  readonly isWhole: boolean;
}

/** The end of a view, as it was read last. */
interface CachedView extends Pick<ReadTail, 'isWhole' | 'summarised' | 'lastCompaction'> {
  readonly created: number;
  readonly revision: number;
  readonly view: ComputedView;
  /**
   * For a transcript copies of the last {@link limit} events of the view; for models of the stored events that the view
   * makes them of.
   */
  readonly events: readonly Event[];
  /** In the view for models the id of the first event. What it shows before that one may have gaps. */
  readonly firstId: string | undefined;
  /** The last events that the view showed when it was continued, and how many were asked for. Further reads copy them. */
  readonly shown?: { readonly last: number; readonly events: Event[] } | undefined;
  readonly limit: number;
  /** The ids of the last stored events. */
  readonly storedIds: readonly string[];
  /** How many stored events follow the last marker. */
  readonly countAfterMarker: number;
  /** When the last stored events were last read: a time of `performance.now()`. Reads of changed events do not renew it. */
  readonly readAt: number;
}

const MAX_CACHED_VIEWS = 100;
const MAX_CACHED_EVENTS = 300;
/**
 * An event that another program deletes with SQL is not among the changed events. After this time the last stored events
 * are compared with those that were read.
 */
const MAX_CACHED_MS = 60_000;
/** How often markers are read while other writers change the session. After that, all events are read. */
const ATTEMPTS = 3;

/**
 * Reads the events of views. A window counts the events of its view, not the stored ones.
 *
 * A marker changes only events before it. So the last stored events are read first. If no marker is among them, they
 * decide the end of the view, with two exceptions in the view for models:
 * - If they do not decide it, the markers are read too: the call of a response may be earlier, and a compaction may hide
 *   it.
 * - An event that follows a compaction may have a time that the compaction covers, because its author's clock was
 *   behind. The whole view hides such an event, and this window shows it.
 *
 * If there is a marker, all markers are read, and then more and more of the last events, until these decide the end of
 * the view; see {@link tailOfLast}. If the storage cannot read markers alone, all events are read instead. Without a
 * marker among the last events, a call that a compaction hides is then missing.
 *
 * The end of the view is cached. Later reads load only the events that have changed since. If these are new, and no
 * markers, they follow the cached ones. The view for models is computed again with them, because a response may show its
 * call, or end the wait of an invocation. So the events of a long range are read once, and not at each turn.
 */
export class ViewReader {
  /** By key and view; the first one was used least recently. */
  readonly #cache = new Map<string, CachedView>();

  /** Plans the reads of a session, and returns it as the view shows it. */
  *get(
    traits: StoreTraits,
    { last, after: from, view, ...request }: WindowRequest & { readonly view: ComputedView },
  ): ReadPlan<ReadSession | undefined> {
    if (traits.computesViews) {
      return yield* find({ ...request, last, after: from, view, kind: 'window' });
    }
    if (last === undefined || last === 'all' || from !== undefined) {
      const all = last === 'all' ? last : undefined;
      const read = yield* find({ ...request, last: all, kind: 'window' });
      if (read === undefined) return undefined;
      const { events } = viewOf(read.events, view, read.olderInvocations);
      const shown = from === undefined ? events : windowOf(read, events, view, last, from);
      return { ...read, events: shown };
    }
    const { key, skipCorrupt } = request;
    const name = JSON.stringify([sessionName(key), view, skipCorrupt]);
    const cached = this.#cache.get(name);
    const isUsable = cached !== undefined && cached.limit >= last && cached.countAfterMarker < last;
    const renewed = isUsable ? yield* this.#renew(name, cached, request) : undefined;
    const changed = renewed && (yield* changesAfter(renewed, request));
    const continued = renewed && changed && this.#continue(name, renewed, changed, last);
    return continued ?? (yield* this.#readEnd(name, { request, view }, last, traits));
  }

  /** Returns a cached view if it is recent, or if the last stored events are still those that it was made of. */
  *#renew(
    name: string,
    cached: CachedView,
    request: Omit<WindowRequest, 'last' | 'after' | 'view'>,
  ): ReadPlan<CachedView | undefined> {
    if (performance.now() - cached.readAt < MAX_CACHED_MS) return cached;
    const { created, limit, storedIds } = cached;
    const last = Math.min(2 * limit, storedIds.length);
    const read = yield* find({ ...request, last, kind: 'window' });
    if (read?.created !== created || read.events.length < last) return undefined;
    const known = new Set(storedIds);
    const ids = read.events.map(({ id }) => id).filter((id) => known.has(id));
    const expected = lastOf(storedIds, ids.length);
    if (ids.length === 0 || ids.some((id, at) => id !== expected[at])) return undefined;
    const renewed = { ...cached, readAt: performance.now() };
    this.#put(name, renewed);
    return renewed;
  }

  /**
   * Returns the last events of a cached view and of those that follow it. `undefined` if the changed events change
   * what the view shows, or if no marker is among the last stored events.
   */
  #continue(
    name: string,
    cached: CachedView,
    session: ChangedSession,
    last: number,
  ): ReadSession | undefined {
    const later = laterEvents(cached, session);
    const { revision, state } = session;
    if (later === undefined || state === undefined) return undefined;
    const continued = {
      ...cached,
      revision,
      events: [...cached.events, ...later],
      storedIds: [...cached.storedIds, ...later.map(({ id }) => id)],
      countAfterMarker: cached.countAfterMarker + later.length,
    };
    const isSame = later.length === 0 && cached.shown?.last === last;
    const shown = isSame ? cached.shown.events : lastShown(continued, last);
    this.#put(name, { ...continued, shown: shown && { last, events: shown } });
    if (shown === undefined) return undefined;
    const events = copyJson(shown);
    noteSummarised(events, cached.summarised);
    return { ...session, state, events };
  }

  /**
   * Reads the end of a view. Caches it if it differs from the last stored events, is short, and can be continued later.
   */
  *#readEnd(
    name: string,
    source: ViewSource,
    last: number,
    { continuesViews }: StoreTraits,
  ): ReadPlan<ReadSession | undefined> {
    const { read, end: events } = yield* tailWithoutMarkers(source, last);
    if (read === undefined) return undefined;
    if (events !== undefined) return { ...read, events };
    const size = { count: Math.max(last, this.#cache.get(name)?.limit ?? 0), within: last };
    const isWhole =
      read.events.length < last &&
      read.olderInvocations === undefined &&
      !source.request.skipCorrupt;
    const tail = isWhole
      ? wholeView(read, source.view, size)
      : yield* tailByMarkers(source, size, ATTEMPTS);
    if (tail === undefined) return undefined;
    if (continuesViews && size.count <= MAX_CACHED_EVENTS) {
      this.#put(name, cachedView(tail, source.view, size.count));
    }
    return { ...tail.read, events: tail.events.slice(tail.within) };
  }

  #put(name: string, view: CachedView): void {
    const events = view.view === 'model' ? view.events : lastOf(view.events, view.limit);
    const storedIds = lastOf(view.storedIds, MOST_CHANGED);
    putLast(this.#cache, name, { ...view, events, storedIds }, MAX_CACHED_VIEWS);
  }
}

/** Reads what has changed since a view was cached; `undefined` if an event cannot be read, so that the view is read again. */
function* changesAfter(
  { revision }: CachedView,
  { key }: WindowRequest,
): ReadPlan<ChangedSession | undefined> {
  try {
    return yield* find({ key, since: revision, created: undefined, kind: 'since' });
  } catch (error) {
    if (isSessionError(error, 'corrupt_record')) return undefined;
    throw error;
  }
}

/** Reads the last stored events, and returns the end of the view if they decide it. */
function* tailWithoutMarkers(
  { request, view }: ViewSource,
  last: number,
): ReadPlan<{ read: ReadSession | undefined; end?: Event[] | undefined }> {
  const read = yield* find({ ...request, last, kind: 'window' });
  if (read?.events.some(isMarker) !== false) return { read };
  if (view === 'transcript') return { read, end: read.events };
  const { events } = read;
  // Without markers and calls, the view ends with the stored events. There may be fewer than asked for.
  const isPlain = !events.some(hasCallParts);
  if (isPlain) return { read, end: events };
  const tail = tailOfLast([], events, view, { count: last });
  return { read, end: typeof tail === 'string' ? undefined : tail.events };
}

/** Reads at least so many of the last events of a view, or all if it has fewer. */
function* tailByMarkers(
  source: ViewSource,
  size: Required<TailSize>,
  attempts: number,
): ReadPlan<ReadTail | undefined> {
  const { request, view } = source;
  const markers = attempts === 0 ? undefined : yield* find({ ...request, kind: 'markers' });
  if (markers === undefined) return yield* readWhole(source, size);
  // To read as many events as there are markers takes no longer than the markers took.
  const growth = { least: markers.events.length };
  for (let last = nextLast(size.count, { factor: 2 }); ; last = nextLast(last, growth)) {
    const read = yield* find({ ...request, last, kind: 'window' });
    if (read === undefined) return undefined;
    const isSame = read.created === markers.created && read.revision === markers.revision;
    if (!isSame) return yield* tailByMarkers(source, size, attempts - 1);
    // A short read is the whole history, unless damaged events were left out.
    if (last === 'all' || read.events.length < last) {
      return request.skipCorrupt ? yield* readWhole(source, size) : wholeView(read, view, size);
    }
    const tail = tailOfLast(markers.events, read.events, view, size);
    if (tail === 'needsEarlier') continue;
    if (typeof tail === 'string') return yield* readWhole(source, size);
    return { read, ...tail, isWhole: false };
  }
}

function* readWhole(
  { request, view }: ViewSource,
  size: Required<TailSize>,
): ReadPlan<ReadTail | undefined> {
  const read = yield* find({ ...request, kind: 'window' });
  return read && wholeView(read, view, size);
}

function wholeView(read: ReadSession, view: ComputedView, size: TailSize): ReadTail {
  const tail = tailOfView(read, view, size);
  return { read, ...tail, isWhole: read.olderInvocations === undefined && tail.start === 0 };
}

/** Returns the last events that a cached view shows. `undefined` if it does not have them, or no marker is among the stored ones. */
function lastShown(cached: CachedView, last: number): Event[] | undefined {
  const { view, events, firstId, isWhole, countAfterMarker } = cached;
  if (countAfterMarker >= last) return undefined;
  if (view === 'transcript') {
    return events.length < last && !isWhole ? undefined : lastOf(events, last);
  }
  const tail = continuedTail(events, firstId, isWhole, last);
  return typeof tail === 'string' ? undefined : tail.events;
}

function cachedView({ read, ...end }: ReadTail, view: ComputedView, limit: number): CachedView {
  const { created, revision, events: stored } = read;
  // The caller gets the events themselves, and may change them.
  const isForModels = view === 'model';
  const events = copyJson(isForModels ? end.sources : lastOf(end.events, limit));
  const ids = events.map(({ id }) => id).filter((id) => end.summarised.has(id));
  return {
    created,
    revision,
    view,
    events,
    firstId: isForModels ? end.events[0]?.id : undefined,
    limit,
    isWhole: end.isWhole,
    summarised: new Set(ids),
    storedIds: stored.map(({ id }) => id),
    countAfterMarker: stored.length - 1 - stored.findLastIndex(isMarker),
    lastCompaction: end.lastCompaction && copyJson(end.lastCompaction),
    readAt: performance.now(),
  };
}

/**
 * Returns the events that follow a cached view. `undefined` if other changes were written since, or if the events
 * change what the view shows.
 *
 * A SQL database may return events that the view knows. It may order a new event before known ones, if the clock of
 * the program that wrote it is behind.
 */
function laterEvents(cached: CachedView, session: ChangedSession): Event[] | undefined {
  const { created, revision, events: changed } = session;
  if (created !== cached.created || revision < cached.revision) return undefined;
  if (changed === undefined) return undefined;
  const later: Event[] = [];
  if (changed.length === 0) return later;
  const known = new Set(cached.storedIds);
  for (const { seq, revision, event } of changed) {
    if (known.has(event.id) && revision <= cached.revision) continue;
    const isNew = !known.has(event.id) && seq > cached.revision;
    if (!isNew) return undefined;
    later.push(event);
  }
  if (later.length === 0) return later;
  const { lastCompaction, events, summarised } = cached;
  const shown = events.filter(({ id }) => !summarised.has(id));
  const earlier = lastCompaction === undefined ? shown : [lastCompaction, ...shown];
  return followsTail(earlier, later, cached.view) ? later : undefined;
}

/** Returns the events of a window by time, as storages select them, and what else their responses need. */
function windowOf(
  read: ReadSession,
  shown: readonly Event[],
  view: ComputedView,
  last: EventCount | undefined,
  from: number,
): Event[] {
  const isLater = ({ timestamp }: Event): boolean => timestamp >= from;
  const later = [...shown.keys()].filter((at) => isLater(shown[at]!));
  const first = typeof last === 'number' ? (later.at(-last) ?? later[0]) : later[0];
  if (first === undefined || last === 0) return [];
  const { start } = tailOfView(read, view, { count: shown.length - first });
  return shown.filter((event, at) => at >= start && (at < first || isLater(event)));
}

function lastOf<Item>(list: readonly Item[], count: number): Item[] {
  return list.slice(Math.max(0, list.length - count));
}
