/** Reads earlier and earlier events until they decide a part of a view. */
import type { PageRequest, ReadMarkers, ReadPlan } from '../../read.js';
import { find } from '../../storage/reads/read_plan.js';
import type { Undecided } from '../../wasm/packed_marks.js';
import type { Event } from '../../../values/model/event/event.js';

/** The events of a session that are known, each once, in append order. */
export interface KnownEvents {
  /** The markers before the last events; see `MarkerRows`. */
  readonly earlier: readonly Event[];
  /** The last events before a place, or before the end. Events that rewinds have undone may be absent. */
  readonly last: readonly Event[];
  /** The markers from the place on. */
  readonly later: readonly Event[];
  /** The id of the event before which to read on. Absent: before the end. */
  readonly firstId: string | undefined;
  /** Whether no events come before the last ones. */
  readonly isFromStart: boolean;
}

/** The most events of a page. */
const MOST = 2 ** 20;

/**
 * Reads events before those that are known until they decide a part of a view. What a rewind has undone decides
 * nothing, so the next page is the one before that. The first such page is as long as the first page of all, and each
 * further one twice as long, since the page before one rewind may be what another has undone. Any other page has four times
 * as many events as the one before. So both the pages and the unused events stay few.
 *
 * @param markers the markers, read at the same revision as the known events
 * @param count the number of events of the first page
 * @param decide computes the part
 * @returns `'changed'` if others have changed the session meanwhile
 */
export function* readBack<Part extends object>(
  { key, skipCorrupt }: Pick<PageRequest, 'key' | 'skipCorrupt'>,
  markers: ReadMarkers,
  start: KnownEvents,
  count: number,
  decide: (known: KnownEvents) => Part | Undecided,
): ReadPlan<Part | 'needsAll' | 'changed'> {
  const page = { key, skipCorrupt, direction: 'before', withCount: false, isToEnd: true } as const;
  let [known, limit, skips] = [start, 0, 0];
  for (;;) {
    const part = decide(known);
    if (!isUndecided(part)) return part;
    if (part.answer !== 'needsEarlier' || known.isFromStart) return 'needsAll';
    const undone = known.earlier.slice(part.before);
    const eventId = undone[0]?.id ?? known.firstId;
    // To read as many events as there are markers takes no longer than the markers took.
    if (undone.length > 0) limit = Math.min(MOST, count * 2 ** skips++);
    else limit = limit > 0 ? Math.min(MOST, 4 * Math.max(limit, markers.events.length)) : count;
    const read = yield* find({ ...page, eventId, limit, kind: 'page' });
    const isSame = read?.created === markers.created && read.revision === markers.revision;
    if (!isSame || read.events === undefined) return 'changed';
    const ids = new Set(read.events.map(({ id }) => id));
    const isOther = ({ id }: Event): boolean => !ids.has(id);
    known = {
      earlier: known.earlier.slice(0, part.before).filter(isOther),
      last: [...read.events, ...undone, ...known.last],
      later: known.later.filter(isOther),
      firstId: read.firstId ?? eventId,
      isFromStart: read.hasOlder === false,
    };
  }
}

function isUndecided(part: object): part is Undecided {
  return 'answer' in part;
}
