/**
 * Where the events stand that went through this service, by their ids.
 *
 * A new version of an event may say that it is of any time, and so does not tell how far back the first one
 * stands. Whoever replaces an event has seen it, mostly here. One that was not is found by its id in a
 * whole read all the same; only a window shows it where it was posted.
 */
import type { EventRow } from '../../storage/adapter.js';
import { putLast } from '../../storage/bounded_map.js';

interface Seen {
  readonly created: number;
  /** `seq` by id. */
  readonly places: Map<string, number>;
}

/** Microseconds: events that others posted at one moment stand one behind the other, see `fold.ts`. */
const SAME_MOMENT = 1000;

/** Those that were used last. */
const MAX_SESSIONS = 256;

/** Of one session, those that were seen last: a new version is of a turn that still goes on, or of one just before. */
const MAX_EVENTS = 1000;

export class SeenEvents {
  readonly #sessions = new Map<string, Seen>();

  /** @param created which of the sessions that had this URL it is */
  note(url: string, created: number, rows: readonly Pick<EventRow, 'id' | 'seq'>[]): void {
    const known = this.#sessions.get(url);
    const seen =
      known?.created === created ? known : { created, places: new Map<string, number>() };
    for (const { id, seq } of rows) {
      // Of a part of the events, a later version may be the first that is in it.
      const place = Math.min(seq, seen.places.get(id) ?? Infinity);
      putLast(seen.places, id, place, MAX_EVENTS);
    }
    putLast(this.#sessions, url, seen, MAX_SESSIONS);
  }

  /** No later than where the first of them was posted; `Infinity`, if none was seen. */
  earliest(url: string, created: number, ids: readonly string[]): number {
    const seen = this.#sessions.get(url);
    if (seen?.created !== created) return Infinity;
    const places = ids.map((id) => seen.places.get(id) ?? Infinity);
    return places.reduce((one, other) => Math.min(one, other), Infinity) - SAME_MOMENT;
  }
}
