/** Reads pages of a session's events, as a view shows them. */
import { after, type Call, type MaybePromise } from '../../../core/call/call.js';
import { hasCallParts } from '../../../core/history/calls/call_marks.js';
import { isMarker } from '../../../core/history/marks.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import type { PageRequest, ReadMarkers, ReadPage } from '../../../core/read.js';
import type { Store } from '../../../core/storage/store.js';
import { pageOfLast, pageOfView } from './view_parts.js';
import { decided, growingRead } from '../../../core/storage/reads/growing_read.js';

/** Reads a page. Loads the whole history only if the page needs it. Returns `undefined` if there is no session. */
export function readPage(
  store: Store,
  { view = 'raw', ...page }: PageRequest,
  call: Call,
): MaybePromise<ReadPage | undefined> {
  if (view === 'raw') return store.read({ ...page, kind: 'page' }, call);
  if (store.traits.computesViews) return store.read({ ...page, view, kind: 'page' }, call);
  return after(store.read({ ...page, kind: 'markers' }, call), (markers) => {
    const read = markers && readByMarkers(store, markers, view, page, call);
    return after(read, (read) => read ?? readWhole(store, view, page, call));
  });
}

/**
 * Reads a page without the whole history. Returns `undefined` if the page needs that, or if the session has changed
 * since the markers were read.
 *
 * Without markers the page is the stored one, unless models get it and it has function calls. Otherwise the whole history
 * is needed for the count of a view, for a page after an event, and for the view for models if there is a compaction. Any
 * other page needs only the markers and the events before it.
 */
function readByMarkers(
  store: Store,
  markers: ReadMarkers,
  view: ComputedView,
  page: PageRequest,
  call: Call,
): MaybePromise<ReadPage | undefined> {
  const read = (request: PageRequest): MaybePromise<ReadPage | undefined> =>
    after(store.read({ ...request, kind: 'page' }, call), (read) => {
      const { created, revision } = read ?? {};
      return created === markers.created && revision === markers.revision ? read : undefined;
    });
  const hasMarkers = markers.events.some(isMarker);
  const needsAll = page.direction === 'after' || page.withCount;
  const byEvents = (): MaybePromise<ReadPage | undefined> => {
    const { events } = markers;
    if (needsAll || pageOfLast(events, [], view, page, false) === 'needsAll') return undefined;
    const growth = { least: events.length };
    return growingRead<ReadPage | undefined>(2 * page.limit, attempt, growth);
  };
  const attempt = (last: EventCount) => {
    if (last === 'all') return decided(undefined);
    return after(read({ ...page, limit: last, isToEnd: false }), (read) => {
      if (read?.events === undefined) return decided(undefined);
      const { created, events, hasOlder } = read;
      const shown = pageOfLast(markers.events, events, view, page, hasOlder === false);
      if (typeof shown !== 'string') return decided({ created, ...shown });
      return shown === 'needsEarlier' && hasOlder === true ? undefined : decided(undefined);
    });
  };
  if (hasMarkers) return byEvents();
  // Without markers and calls, models get what is stored.
  return after(read(page), (read) => {
    if (read?.events?.some(hasCallParts) === false) return read;
    return view === 'transcript' ? read : byEvents();
  });
}

function readWhole(
  store: Store,
  view: ComputedView,
  { key, direction, eventId, limit, isToEnd, skipCorrupt, isShown }: PageRequest,
  call: Call,
): MaybePromise<ReadPage | undefined> {
  // Another page would read the whole history once more.
  const request = { direction, eventId, limit: isToEnd === true ? 'all' : limit, isShown } as const;
  return after(
    store.read({ kind: 'window', key, skipCorrupt }, call),
    (read) => read && { created: read.created, ...pageOfView(read, view, request) },
  );
}
