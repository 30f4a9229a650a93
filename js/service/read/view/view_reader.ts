/** Reads sessions, as a view shows them; see `js/core/history`. */
import { after, type Call, type MaybePromise, recovered } from '../../../core/call/call.js';
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
import type { Store } from '../../../core/storage/store.js';
import { MOST_CHANGED } from '../../../core/wasm/protocol.js';
import {
  continuedTail,
  followsTail,
  tailOfLast,
  type TailSize,
  tailOfView,
  type ViewTail,
} from './view_parts.js';
import { decided, growingRead, nextLast } from '../../../core/storage/reads/growing_read.js';
import { sessionName } from '../../../values/model/values/session_name.js';

/** What a view is computed from. */
interface ViewSource {
  readonly store: Store;
  /** The request without a window. */
  readonly request: WindowRequest;
  readonly view: ComputedView;
  readonly call: Call;
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

  get(
    store: Store,
    { last, after: from, view, ...request }: WindowRequest & { readonly view: ComputedView },
    call: Call,
  ): MaybePromise<ReadSession | undefined> {
    const inWindow = { ...request, last, after: from };
    if (store.traits.computesViews) return store.read({ ...inWindow, view, kind: 'window' }, call);
    if (last === undefined || last === 'all' || from !== undefined) {
      const all = last === 'all' ? last : undefined;
      return after(store.read({ ...request, last: all, kind: 'window' }, call), (read) => {
        if (read === undefined) return undefined;
        const { events } = viewOf(read.events, view, read.olderInvocations);
        return {
          ...read,
          events: from === undefined ? events : windowOf(read, events, view, last, from),
        };
      });
    }
    const { key, skipCorrupt } = request;
    const name = JSON.stringify([sessionName(key), view, skipCorrupt]);
    const cached = this.#cache.get(name);
    const isUsable = cached !== undefined && cached.limit >= last && cached.countAfterMarker < last;
    return after(
      isUsable ? this.#renew(name, cached, store, request, call) : undefined,
      (renewed) => {
        return after(renewed && changesAfter(store, renewed, request, call), (session) => {
          const continued = renewed && session && this.#continue(name, renewed, session, last);
          return continued ?? this.#readEnd(name, { store, request, view, call }, last);
        });
      },
    );
  }

  /** Returns a cached view if it is recent, or if the last stored events are still those that it was made of. */
  #renew(
    name: string,
    cached: CachedView,
    store: Store,
    request: Omit<WindowRequest, 'last' | 'after' | 'view'>,
    call: Call,
  ): MaybePromise<CachedView | undefined> {
    if (performance.now() - cached.readAt < MAX_CACHED_MS) return cached;
    const { created, limit, storedIds } = cached;
    const last = Math.min(2 * limit, storedIds.length);
    return after(store.read({ ...request, last, kind: 'window' }, call), (read) => {
      if (read?.created !== created || read.events.length < last) return undefined;
      const known = new Set(storedIds);
      const ids = read.events.map(({ id }) => id).filter((id) => known.has(id));
      const expected = lastOf(storedIds, ids.length);
      if (ids.length === 0 || ids.some((id, at) => id !== expected[at])) return undefined;
      const renewed = { ...cached, readAt: performance.now() };
      this.#put(name, renewed);
      return renewed;
    });
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
    const { state } = session;
    if (later === undefined || state === undefined) return undefined;
    const events = [...cached.events, ...later];
    const storedIds = [...cached.storedIds, ...later.map(({ id }) => id)];
    const countAfterMarker = cached.countAfterMarker + later.length;
    const { revision } = session;
    this.#put(name, { ...cached, revision, events, storedIds, countAfterMarker });
    if (countAfterMarker >= last) return undefined;
    const copies = copyJson(events);
    if (cached.view === 'model') {
      const tail = continuedTail(copies, cached.firstId, cached.isWhole, last);
      return typeof tail === 'string' ? undefined : { ...session, state, events: tail.events };
    }
    if (copies.length < last && !cached.isWhole) return undefined;
    const end = lastOf(copies, last);
    noteSummarised(end, cached.summarised);
    return { ...session, state, events: end };
  }

  /**
   * Reads the end of a view. Caches it if it differs from the last stored events, is short, and can be continued later.
   */
  #readEnd(name: string, source: ViewSource, last: number): MaybePromise<ReadSession | undefined> {
    return after(tailWithoutMarkers(source, last), ({ read, end }) => {
      if (read === undefined) return undefined;
      if (end !== undefined) return { ...read, events: end };
      const size = { count: Math.max(last, this.#cache.get(name)?.limit ?? 0), within: last };
      const isWhole =
        read.events.length < last &&
        read.olderInvocations === undefined &&
        !source.request.skipCorrupt;
      const whole = isWhole ? wholeView(read, source.view, size) : undefined;
      return after(whole ?? tailByMarkers(source, size, ATTEMPTS), (end) => {
        if (end === undefined) return undefined;
        if (source.store.traits.continuesViews && size.count <= MAX_CACHED_EVENTS) {
          this.#put(name, cachedView(end, source.view, size.count));
        }
        return { ...end.read, events: end.events.slice(end.within) };
      });
    });
  }

  #put(name: string, view: CachedView): void {
    const events = view.view === 'model' ? view.events : lastOf(view.events, view.limit);
    const storedIds = lastOf(view.storedIds, MOST_CHANGED);
    putLast(this.#cache, name, { ...view, events, storedIds }, MAX_CACHED_VIEWS);
  }
}

/** Reads what has changed since a view was cached; `undefined` if an event cannot be read, so that the view is read again. */
function changesAfter(
  store: Store,
  { revision }: CachedView,
  { key }: WindowRequest,
  call: Call,
): MaybePromise<ChangedSession | undefined> {
  return recovered(
    () => store.read({ kind: 'since', key, since: revision, created: undefined }, call),
    (error) => {
      if (isSessionError(error, 'corrupt_record')) return undefined;
      throw error;
    },
  );
}

/** Reads the last stored events, and returns the end of the view if they decide it. */
function tailWithoutMarkers(
  { store, request, view, call }: ViewSource,
  last: number,
): MaybePromise<{ read: ReadSession | undefined; end?: Event[] | undefined }> {
  return after(store.read({ ...request, last, kind: 'window' }, call), (read) => {
    if (read?.events.some(isMarker) !== false) return { read };
    if (view === 'transcript') return { read, end: read.events };
    const { events } = read;
    // Without markers and calls, the view ends with the stored events. There may be fewer than asked for.
    const isPlain = !events.some(hasCallParts);
    if (isPlain) return { read, end: events };
    const tail = tailOfLast([], events, view, { count: last });
    return { read, end: typeof tail === 'string' ? undefined : tail.events };
  });
}

/** Reads at least so many of the last events of a view, or all if it has fewer. */
function tailByMarkers(
  source: ViewSource,
  size: Required<TailSize>,
  attempts: number,
): MaybePromise<ReadTail | undefined> {
  const { store, request, view, call } = source;
  const readWhole = () =>
    after(
      store.read({ ...request, kind: 'window' }, call),
      (read) => read && wholeView(read, view, size),
    );
  return after(
    attempts === 0 ? undefined : store.read({ ...request, kind: 'markers' }, call),
    (markers) => {
      if (markers === undefined) return readWhole();
      const attempt = (last: EventCount) =>
        after(store.read({ ...request, last, kind: 'window' }, call), (read) => {
          if (read === undefined) return decided(undefined);
          const isSame = read.created === markers.created && read.revision === markers.revision;
          if (!isSame) return after(tailByMarkers(source, size, attempts - 1), decided);
          // A short read is the whole history, unless damaged events were left out.
          if (last === 'all' || read.events.length < last) {
            return after(request.skipCorrupt ? readWhole() : wholeView(read, view, size), decided);
          }
          const end = tailOfLast(markers.events, read.events, view, size);
          if (end === 'needsEarlier') return undefined;
          if (typeof end === 'string') return after(readWhole(), decided);
          return decided({ read, ...end, isWhole: false });
        });
      // To read as many events as there are markers takes no longer than the markers took.
      const least = markers.events.length;
      return growingRead<ReadTail | undefined>(nextLast(size.count, { factor: 2 }), attempt, {
        least,
      });
    },
  );
}

function wholeView(read: ReadSession, view: ComputedView, size: TailSize): ReadTail {
  const tail = tailOfView(read, view, size);
  return { read, ...tail, isWhole: read.olderInvocations === undefined && tail.start === 0 };
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
  const known = new Set(cached.storedIds);
  const later: Event[] = [];
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
