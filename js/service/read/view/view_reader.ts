/** Reads sessions, as a view shows them; see `js/core/history`. */
import { after, type Call, type MaybePromise } from '../../../core/call/call.js';
import { hasCallParts } from '../../../core/history/calls/call_marks.js';
import { compactedEndOf, compactionOf, isMarker } from '../../../core/history/marks.js';
import { noteSummarised, viewOf } from '../../../core/history/view.js';
import type { Event } from '../../../values/model/event/event.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import { hasWaitingCall, waitsAtNode } from '../../../values/model/event/waiting.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import { copyJson } from '../../../values/json/copy.js';
import { putLast } from '../../../values/members/bounded_map.js';
import type {
  Backend,
  ChangedSession,
  ReadRequest,
  ReadSession,
} from '../../../core/storage/backend.js';
import { changedEvents } from '../../../core/storage/changes.js';
import { MOST_CHANGED } from '../../../core/wasm/protocol.js';
import { hasResponseWithoutCall } from '../../../core/history/calls/call_pairs.js';
import { type ViewTail, viewTailOf, lastOfView, startOf } from './view_tail.js';
import { viewOfRead } from './older_stubs.js';
import { decided, growingRead, nextLast } from '../../../core/storage/reads/growing_read.js';

/** What a view is computed from. */
interface ViewSource {
  readonly backend: Backend;
  /** The request without a window. */
  readonly request: ReadRequest;
  readonly view: ComputedView;
  readonly call: Call;
}

/** The last events of a view, or all of them, with the read of the last stored events. */
interface ReadTail extends ViewTail {
  readonly read: ReadSession;
  /** Whether the view has no earlier events. */
  readonly isWhole: boolean;
  /** The end of the latest range of a compaction, whether or not it counts; −1 without one. */
  readonly hiddenUntil: number;
}

/** The end of a view, as it was read last. */
interface CachedView extends Pick<ReadTail, 'isWhole' | 'summarised' | 'hiddenUntil'> {
  readonly created: number;
  readonly revision: number;
  readonly view: ComputedView;
  /**
   * For a transcript copies of the last {@link limit} events of the view; for models of the stored events that the view
   * makes them of.
   */
  readonly events: readonly Event[];
  /**
   * The id of the first event that they show for certain; `undefined` if that is their first one. What the view for
   * models shows before it may have gaps.
   */
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
 * the view; see {@link viewTailOf}. If the storage cannot read markers alone, all events are read instead. Without a
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
    backend: Backend,
    { last, after: from, view, ...request }: ReadRequest & { readonly view: ComputedView },
    call: Call,
  ): MaybePromise<ReadSession | undefined> {
    const inWindow = { ...request, last, after: from };
    if (backend.computesViews) return backend.get({ ...inWindow, view }, call);
    if (last === undefined || last === 'all' || from !== undefined) {
      const all = last === 'all' ? last : undefined;
      return after(backend.get({ ...request, last: all }, call), (read) => {
        if (read === undefined) return undefined;
        const { viewed, withoutStubs } = viewOfRead(read, view);
        return { ...read, events: eventsIn(withoutStubs(viewed.events), view, last, from) };
      });
    }
    const { key, skipCorrupt } = request;
    const name = JSON.stringify([key.appName, key.userId, key.sessionId, view, skipCorrupt]);
    const cached = this.#cache.get(name);
    const isUsable = cached !== undefined && cached.limit >= last && cached.countAfterMarker < last;
    return after(
      isUsable ? this.#renew(name, cached, backend, request, call) : undefined,
      (renewed) => {
        const changes = renewed && { ...request, since: renewed.revision, created: undefined };
        return after(changes && backend.readChanged?.(changes, call), (session) => {
          const continued = renewed && session && this.#continue(name, renewed, session, last);
          return continued ?? this.#readEnd(name, { backend, request, view, call }, last);
        });
      },
    );
  }

  /** Returns a cached view if it is recent, or if the last stored events are still those that it was made of. */
  #renew(
    name: string,
    cached: CachedView,
    backend: Backend,
    request: Omit<ReadRequest, 'last' | 'after' | 'view'>,
    call: Call,
  ): MaybePromise<CachedView | undefined> {
    if (performance.now() - cached.readAt < MAX_CACHED_MS) return cached;
    const { created, limit, storedIds } = cached;
    const last = Math.min(2 * limit, storedIds.length);
    return after(backend.get({ ...request, last }, call), (read) => {
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
    if (later === undefined) return undefined;
    const events = [...cached.events, ...later];
    const storedIds = [...cached.storedIds, ...later.map(({ id }) => id)];
    const countAfterMarker = cached.countAfterMarker + later.length;
    const { revision } = session;
    this.#put(name, { ...cached, revision, events, storedIds, countAfterMarker });
    if (countAfterMarker >= last) return undefined;
    const copies = copyJson(events);
    const shown = cached.view === 'model' ? viewOf(copies, 'model').events : copies;
    const first = shown.findIndex(({ id }) => id === cached.firstId);
    if (first < 0 && cached.firstId !== undefined) return undefined;
    shown.splice(0, first);
    const start = startOf(shown, last, cached.view);
    if (start < 0 && !cached.isWhole) return undefined;
    const end = shown.slice(Math.max(0, start));
    noteSummarised(end, cached.summarised);
    return { ...session, events: end };
  }

  /**
   * Reads the end of a view. Caches it if it differs from the last stored events, is short, and can be continued later.
   */
  #readEnd(name: string, source: ViewSource, last: number): MaybePromise<ReadSession | undefined> {
    return after(tailWithoutMarkers(source, last), ({ read, end }) => {
      if (read === undefined) return undefined;
      if (end !== undefined) return { ...read, events: end };
      const limit = Math.max(last, this.#cache.get(name)?.limit ?? 0);
      const isWhole =
        read.events.length < last &&
        read.olderInvocations === undefined &&
        !source.request.skipCorrupt;
      const whole = isWhole ? wholeView(read, source.view, limit) : undefined;
      return after(whole ?? tailByMarkers(source, limit, ATTEMPTS), (end) => {
        if (end === undefined) return undefined;
        const canContinue = source.backend.readChanged !== undefined;
        if (canContinue && limit <= MAX_CACHED_EVENTS) {
          this.#put(name, cachedView(end, source.view, limit));
        }
        const start = startOf(end.events, last, source.view);
        return { ...end.read, events: end.events.slice(Math.max(0, start)) };
      });
    });
  }

  #put(name: string, view: CachedView): void {
    const events = view.view === 'model' ? view.events : lastOf(view.events, view.limit);
    const storedIds = lastOf(view.storedIds, MOST_CHANGED);
    putLast(this.#cache, name, { ...view, events, storedIds }, MAX_CACHED_VIEWS);
  }
}

/** Reads the last stored events, and returns the end of the view if they decide it. */
function tailWithoutMarkers(
  { backend, request, view, call }: ViewSource,
  last: number,
): MaybePromise<{ read: ReadSession | undefined; end?: Event[] | undefined }> {
  return after(backend.get({ ...request, last }, call), (read) => {
    if (read?.events.some(isMarker) !== false) return { read };
    if (view === 'transcript') return { read, end: read.events };
    const { events } = read;
    // Without markers and calls, the view ends with the stored events. There may be fewer than asked for.
    const isPlain = !events.some(hasCallParts);
    return { read, end: isPlain ? events : viewTailOf([], events, view, last)?.events };
  });
}

/** Reads at least the last `limit` events of a view, or all if it has fewer. */
function tailByMarkers(
  source: ViewSource,
  limit: number,
  attempts: number,
): MaybePromise<ReadTail | undefined> {
  const { backend, request, view, call } = source;
  const readWhole = () =>
    after(backend.get(request, call), (read) => read && wholeView(read, view, limit));
  return after(attempts === 0 ? undefined : backend.markers?.(request, call), (markers) => {
    if (markers === undefined) return readWhole();
    const attempt = (last: EventCount) =>
      after(backend.get({ ...request, last }, call), (read) => {
        if (read === undefined) return decided(undefined);
        const isSame = read.created === markers.created && read.revision === markers.revision;
        if (!isSame) return after(tailByMarkers(source, limit, attempts - 1), decided);
        // A short read is the whole history, unless damaged events were left out.
        if (last === 'all' || read.events.length < last) {
          return after(request.skipCorrupt ? readWhole() : wholeView(read, view, limit), decided);
        }
        const end = viewTailOf(markers.events, read.events, view, limit);
        const hiddenUntil = findHiddenUntil(markers.events);
        return end && decided({ read, ...end, isWhole: false, hiddenUntil });
      });
    // To read as many events as there are markers takes no longer than the markers took.
    const least = markers.events.length;
    return growingRead<ReadTail | undefined>(nextLast(limit, { factor: 2 }), attempt, { least });
  });
}

function wholeView(read: ReadSession, view: ComputedView, limit: number): ReadTail {
  const { stored, viewed, withoutStubs } = viewOfRead(read, view);
  const events = withoutStubs(viewed.events);
  const sources = withoutStubs(lastOfView(stored, viewed, view, limit).sources);
  const isWhole = read.olderInvocations === undefined && startOf(events, limit, view) <= 0;
  return { read, ...viewed, events, sources, isWhole, hiddenUntil: findHiddenUntil(stored) };
}

function cachedView({ read, ...end }: ReadTail, view: ComputedView, limit: number): CachedView {
  const { created, revision, events: stored } = read;
  // The caller gets the events themselves, and may change them.
  const isForModels = view === 'model';
  const events = copyJson(isForModels ? end.sources : lastOf(end.events, limit));
  const first = isForModels ? Math.max(0, startOf(end.events, limit, view)) : -1;
  const ids = events.map(({ id }) => id).filter((id) => end.summarised.has(id));
  return {
    created,
    revision,
    view,
    events,
    firstId: end.events[first]?.id,
    limit,
    isWhole: end.isWhole,
    summarised: new Set(ids),
    storedIds: stored.map(({ id }) => id),
    countAfterMarker: stored.length - 1 - stored.findLastIndex(isMarker),
    hiddenUntil: end.hiddenUntil,
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
  if (revision === cached.revision) return [];
  if (changed.length >= MOST_CHANGED) return undefined;
  const known = new Set(cached.storedIds);
  const isForModels = cached.view === 'model';
  const later: Event[] = [];
  for (const { seq, revision, event } of changedEvents(session)) {
    if (event === undefined) return undefined;
    if (known.has(event.id) && revision <= cached.revision) continue;
    const isNew = !known.has(event.id) && seq > cached.revision;
    if (!isNew || isMarker(event) || event.timestamp <= cached.hiddenUntil) return undefined;
    // The compaction no longer hides the events of its invocation.
    if (isForModels && cached.hiddenUntil >= 0 && mayWait(event)) return undefined;
    later.push(event);
  }
  // A response to a hidden call brings the call back. In a transcript the call is then no longer summarised.
  const visible = cached.events.filter(({ id }) => !cached.summarised.has(id));
  const needsCalls = cached.hiddenUntil >= 0 || isForModels;
  const lacksCall = hasResponseWithoutCall([...visible, ...later], visible.length);
  return needsCalls && lacksCall ? undefined : later;
}

/** Returns whether the invocation of an event may wait from then on. */
function mayWait(event: Event): boolean {
  return hasWaitingCall(event) || waitsAtNode(event) === true;
}

/** Returns the end of the latest range that a compaction covers; −1 without one. */
function findHiddenUntil(events: readonly Event[]): number {
  let end = -1;
  for (const event of events) {
    end = Math.max(end, compactionOf(event)?.endTimestamp ?? compactedEndOf(event) ?? -1);
  }
  return end;
}

/** Returns the events of a window, as storages select them, and what else their responses need. */
function eventsIn(
  events: Event[],
  view: ComputedView,
  last: EventCount | undefined,
  from: number | undefined,
): Event[] {
  let later = events;
  if (from !== undefined) {
    const isLater = ({ timestamp }: Event): boolean => timestamp >= from;
    const first = events.findIndex(isLater);
    const start = first < 0 ? 0 : startOf(events, events.length - first, view);
    later = events.filter((event, at) => isLater(event) || (at >= start && at < first));
  }
  if (typeof last !== 'number') return later;
  return later.slice(Math.max(0, startOf(later, last, view)));
}

function lastOf<Item>(list: readonly Item[], count: number): Item[] {
  return list.slice(Math.max(0, list.length - count));
}
