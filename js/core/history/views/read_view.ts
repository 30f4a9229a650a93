/** Reads sessions as a view shows them, over a store that has them as they are stored. */
import { hasCallParts } from '../../../values/model/event/parts.js';
import { isMarker } from '../../../values/model/event/markers.js';
import { viewOf } from '../rules/view.js';
import type { ReadPlan, ReadSession, ViewPlans, WindowRequest } from '../../read.js';
import { find } from '../../storage/reads/read_plan.js';
import type { Event } from '../../../values/model/event/event.js';
import type { EventCount, ComputedView } from '../../../values/model/values/read_options.js';
import { readBack } from './read_back.js';
import { planPage, tailOfKnown, tailOfView } from './view_parts.js';

/** How often the end of a view is read while other writers change the session. After that, all events are read. */
const ATTEMPTS = 3;

/**
 * Plans the reads of a session, and returns it as the view shows it. A window counts the events of its view, not the
 * stored ones.
 *
 * A marker changes only events before it. So the last stored events are read first. If no marker is among them, they
 * decide the end of the view, with two exceptions in the view for models:
 * - If they do not decide it, the markers are read too: the call of a response may be earlier, and a compaction may
 *   hide it.
 * - An event that follows a compaction may have a time that the compaction covers, because its author's clock was
 *   behind. The whole view hides such an event, and this window shows it.
 *
 * If there is a marker, all markers are read, and then earlier events until they decide the end of the view; see
 * {@link readBack}. If the storage cannot read markers alone, all events are read instead. Without a marker among the
 * last events, a call that a compaction hides is then missing.
 */
function* planWindow(
  view: ComputedView,
  { last, after: from, ...request }: WindowRequest,
): ReadPlan<ReadSession | undefined> {
  if (last !== undefined && last !== 'all' && from === undefined) {
    return yield* readEnd(request, view, last);
  }
  const all = last === 'all' ? last : undefined;
  const read = yield* find({ ...request, last: all, kind: 'window' });
  if (read === undefined) return undefined;
  const { events } = viewOf(read.events, view, read.olderInvocations);
  const shown = from === undefined ? events : windowOf(read, events, view, last, from);
  return { ...read, events: shown };
}

/** The plans of every store that has no views of its own. */
export const VIEW_PLANS: ViewPlans = { window: planWindow, page: planPage };

/** Reads so many of the last events of a view, or some more so that no response lacks its call. */
function* readEnd(
  request: WindowRequest,
  view: ComputedView,
  last: number,
): ReadPlan<ReadSession | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const read = yield* find({ ...request, last, kind: 'window' });
    if (read === undefined) return undefined;
    const end = endWithoutMarkers(read.events, view, last);
    if (end !== undefined) return { ...read, events: end };
    // A short read is the whole history, unless damaged events were left out, or a cache has no more.
    const isWhole = read.events.length < last && read.olderInvocations === undefined;
    if (isWhole && !request.skipCorrupt) return endOf(read, view, last);
    const markers = yield* find({ ...request, kind: 'markers' });
    if (markers === undefined) break;
    if (markers.created !== read.created || markers.revision !== read.revision) continue;
    const ids = new Set(read.events.map(({ id }) => id));
    const earlier = markers.events.filter(({ id }) => !ids.has(id));
    const firstId = read.events[0]?.id;
    const known = { earlier, last: read.events, later: [], firstId, isFromStart: false };
    const tail = yield* readBack(request, markers, known, last, (known) =>
      tailOfKnown(known, view, last),
    );
    if (tail === 'needsAll') break;
    if (tail !== 'changed') return { ...read, events: tail.events };
  }
  const read = yield* find({ ...request, kind: 'window' });
  return read && endOf(read, view, last);
}

/** Returns the end of a view if the last stored events decide it. */
function endWithoutMarkers(events: Event[], view: ComputedView, last: number): Event[] | undefined {
  if (events.some(isMarker)) return undefined;
  // Without markers and calls, the view ends with the stored events. There may be fewer than asked for.
  if (view === 'transcript' || !events.some(hasCallParts)) return events;
  const known = { earlier: [], last: events, later: [], firstId: undefined, isFromStart: false };
  const tail = tailOfKnown(known, view, last);
  return 'answer' in tail ? undefined : tail.events;
}

function endOf(read: ReadSession, view: ComputedView, last: number): ReadSession {
  return { ...read, events: tailOfView(read, view, last).events };
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
  const { start } = tailOfView(read, view, shown.length - first);
  return shown.filter((event, at) => at >= start && (at < first || isLater(event)));
}
