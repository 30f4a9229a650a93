/**
 * The positions of the events that went through this service, by id.
 *
 * A new version of an event may carry any timestamp, so that does not tell how far back the first version
 * stands. A client that replaces an event has seen it, usually through this service. Otherwise the new
 * version is posted without a position. A read of all events still puts it in the first version's place, by
 * its id. Only a window that lacks the first version shows it where it was posted.
 */
import type { EventRow } from '../../../core/storage/rows.js';
import { putLast } from '../../../values/bounded_map.js';

interface SeenSession {
  readonly created: number;
  /** `seq` by id. */
  readonly positions: Map<string, number>;
}

/**
 * Tolerance in microseconds: events that others posted at the same time are placed one after another, see
 * `event_list.ts`.
 */
const TOLERANCE_MICROS = 1000;

/** Maximum number of sessions; the most recently used ones are kept. */
const MAX_SESSIONS = 256;

/**
 * Maximum number of events of a session; the most recently seen ones are kept. A new version belongs to the
 * current turn or to the one just before.
 */
const MAX_EVENTS = 1000;

export class SeenEvents {
  readonly #sessions = new Map<string, SeenSession>();

  /**
   * Records the positions of these events.
   *
   * @param created the session's creation time, which tells apart sessions that had the same URL
   */
  record(url: string, created: number, rows: readonly Pick<EventRow, 'id' | 'seq'>[]): void {
    const known = this.#sessions.get(url);
    const seen =
      known?.created === created ? known : { created, positions: new Map<string, number>() };
    for (const { id, seq } of rows) {
      // The rows may be only a part of the events, without the first version of one.
      const position = Math.min(seq, seen.positions.get(id) ?? Infinity);
      putLast(seen.positions, id, position, MAX_EVENTS);
    }
    putLast(this.#sessions, url, seen, MAX_SESSIONS);
  }

  /**
   * Returns a time, in microseconds, that is no later than the first version of any of these events;
   * `Infinity` if none was seen.
   */
  earliestPosition(url: string, created: number, ids: readonly string[]): number {
    const seen = this.#sessions.get(url);
    if (seen?.created !== created) return Infinity;
    const positions = ids.map((id) => seen.positions.get(id) ?? Infinity);
    return positions.reduce((one, other) => Math.min(one, other), Infinity) - TOLERANCE_MICROS;
  }
}
