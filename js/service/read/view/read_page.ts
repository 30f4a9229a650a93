/** Reads pages of a session's events, as a view shows them. */
import type { Call } from '../../../core/call/call.js';
import { hasCallParts } from '../../../core/history/calls/call_marks.js';
import { isMarker } from '../../../core/history/marks.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import type { PageRequest, ReadMarkers, ReadPage } from '../../../core/read.js';
import type { Store } from '../../../core/storage/store.js';
import { pageOfLast, pageOfView } from './view_parts.js';
import { nextLast } from '../../../core/storage/reads/growing_read.js';

/** Reads a page. Loads the whole history only if the page needs it. Returns `undefined` if there is no session. */
export async function readPage(
  store: Store,
  { view = 'raw', ...page }: PageRequest,
  call: Call,
): Promise<ReadPage | undefined> {
  if (view === 'raw') return store.read({ ...page, kind: 'page' }, call);
  if (store.traits.computesViews) return store.read({ ...page, view, kind: 'page' }, call);
  const markers = await store.read({ ...page, kind: 'markers' }, call);
  const read = markers && (await readByMarkers(store, markers, view, page, call));
  return read ?? readWhole(store, view, page, call);
}

/**
 * Reads a page without the whole history. Returns `undefined` if the page needs that, or if the session has changed
 * since the markers were read.
 *
 * Without markers the page is the stored one, unless models get it and it has function calls. Otherwise the whole history
 * is needed for the count of a view, for a page after an event, and for the view for models if there is a compaction. Any
 * other page needs only the markers and the events before it.
 */
async function readByMarkers(
  store: Store,
  markers: ReadMarkers,
  view: ComputedView,
  page: PageRequest,
  call: Call,
): Promise<ReadPage | undefined> {
  const read = async (request: PageRequest): Promise<ReadPage | undefined> => {
    const read = await store.read({ ...request, kind: 'page' }, call);
    const isSame = read?.created === markers.created && read.revision === markers.revision;
    return isSame ? read : undefined;
  };
  if (!markers.events.some(isMarker)) {
    // Without markers and calls, models get what is stored.
    const stored = await read(page);
    if (stored?.events?.some(hasCallParts) === false || view === 'transcript') return stored;
  }
  const { events } = markers;
  const needsAll = page.direction === 'after' || page.withCount;
  if (needsAll || pageOfLast(events, [], view, page, false) === 'needsAll') return undefined;
  const growth = { least: events.length };
  let last: EventCount = 2 * page.limit;
  for (; last !== 'all'; last = nextLast(last, growth)) {
    const earlier = await read({ ...page, limit: last, isToEnd: false });
    if (earlier?.events === undefined) return undefined;
    const { created, hasOlder } = earlier;
    const shown = pageOfLast(events, earlier.events, view, page, hasOlder === false);
    if (typeof shown !== 'string') return { created, ...shown };
    if (shown !== 'needsEarlier' || hasOlder !== true) return undefined;
  }
  return undefined;
}

async function readWhole(
  store: Store,
  view: ComputedView,
  { key, direction, eventId, limit, isToEnd, skipCorrupt, isShown }: PageRequest,
  call: Call,
): Promise<ReadPage | undefined> {
  // Another page would read the whole history once more.
  const request = { direction, eventId, limit: isToEnd === true ? 'all' : limit, isShown } as const;
  const read = await store.read({ key, skipCorrupt, kind: 'window' }, call);
  return read && { created: read.created, ...pageOfView(read, view, request) };
}
