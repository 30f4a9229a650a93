/** Reads pages of a session's events, as a view shows them. */
import type { Call } from '../../../core/call/call.js';
import { hasCallParts } from '../../../core/history/calls/call_marks.js';
import { isMarker } from '../../../core/history/marks.js';
import type { PageRequest, ReadMarkers, ReadPage } from '../../../core/read.js';
import { find, type ReadPlan, runPlan } from '../../../core/storage/reads/read_plan.js';
import type { Store, StoreTraits } from '../../../core/storage/store.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import { readBack } from './read_back.js';
import { pageOfKnown, pageOfView } from './view_parts.js';

/** Reads a page. Loads the whole history only if the page needs it. Returns `undefined` if there is no session. */
export async function readPage(
  store: Store,
  page: PageRequest,
  call: Call,
): Promise<ReadPage | undefined> {
  return runPlan(planPage(store.traits, page), (request) => store.read(request, call));
}

function* planPage(
  { computesViews }: StoreTraits,
  { view = 'raw', ...page }: PageRequest,
): ReadPlan<ReadPage | undefined> {
  if (view === 'raw') return yield* find({ ...page, kind: 'page' });
  if (computesViews) return yield* find({ ...page, view, kind: 'page' });
  const markers = yield* find({ ...page, kind: 'markers' });
  const read = markers && (yield* readByMarkers(markers, view, page));
  return read ?? (yield* readWhole(view, page));
}

/**
 * Reads a page without the whole history. Returns `undefined` if the page needs that, or if the session has changed
 * since the markers were read.
 *
 * Without markers the page is the stored one, unless models get it and it has function calls. Otherwise the whole history
 * is needed for the count of a view, for a page after an event, and for the view for models if there is a compaction. Any
 * other page needs only the markers and the events before it.
 */
function* readByMarkers(
  markers: ReadMarkers,
  view: ComputedView,
  page: PageRequest,
): ReadPlan<ReadPage | undefined> {
  const { created, revision, events } = markers;
  if (!events.some(isMarker)) {
    const stored = yield* find({ ...page, kind: 'page' });
    const isSame = stored?.created === created && stored.revision === revision;
    // Without markers and calls, models get what is stored.
    const isShown = view === 'transcript' || stored?.events?.some(hasCallParts) === false;
    if (isShown) return isSame ? stored : undefined;
  }
  const { direction, eventId, limit, withCount } = page;
  if (direction === 'after' || withCount) return undefined;
  const found = events.findIndex(({ id }) => id === eventId);
  // If the event is damaged, all markers may be later ones.
  const end = eventId === undefined ? events.length : Math.max(0, found);
  const known = {
    ...{ earlier: events.slice(0, end), last: [], later: events.slice(end) },
    ...{ firstId: eventId, isFromStart: false },
  };
  const isDamaged = eventId !== undefined && found < 0;
  const shown = yield* readBack(page, markers, known, 2 * limit, (known) =>
    // Which markers are later is known only if all earlier ones are loaded.
    isDamaged && !known.isFromStart
      ? { answer: 'needsEarlier', before: 0 }
      : pageOfKnown(known, view, { eventId, limit }),
  );
  return typeof shown === 'string' ? undefined : { created, ...shown };
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
