/**
 * Where a session stands, as a revision that grows whoever wrote.
 *
 * Python sets `update_time` to the time of the event that it appends, which may be the one that stood
 * there, or an earlier one: its clock is behind, or the event was made before another one was appended.
 * Two numbers tell all the same that it wrote: `update_time`, and how many events have this time or a
 * later one. If Python moves `update_time` to another time, the first has changed; if not, there is one
 * event more that has it. Events only ever go with their session.
 *
 * Most sessions are in order: nothing is later than `update_time`, and the last event has it alone. Their revision is
 * `update_time`, and nothing is remembered. The revision of any other one must lie above all that its
 * tables had before, so that nothing stored says it: it is the next that is free, and this program
 * remembers for what it was given. Other programs have handles of their own, and memories of their own;
 * the next write of ours, in whichever, is later than everything and puts the session in order.
 *
 * @module
 */
import type { StoredTime } from '../engines/engine.js';
import type { SessionRow, StorageKey } from '../../storage/adapter.js';
import { forget, putLast } from '../../storage/bounded_map.js';
import { parseTime, timeText } from '../../python/micros.js';

/** What is read beside a session's row, to tell its revision. */
export interface StandingColumns {
  /** The latest time that an event of it has; `null`: it has none. */
  newest: StoredTime | null;
  /** How many events have its `update_time` or a later one. */
  later: number | string | bigint;
  /** When we last wrote what `update_time` alone does not say. */
  kept_time: StoredTime | null;
  /** When we last replaced an event, and left none at that time. */
  replaced_at: StoredTime | null;
}

/** What a session out of order was last seen at. */
interface Seen {
  /** `update_time` and the count, which no other standing of the session ever has. */
  readonly mark: string;
  readonly revision: number;
  /** `update_time` by the revisions that stood in for it, the last few. */
  readonly times: Map<number, number>;
}

/**
 * How many sessions are remembered. One that is forgotten while a handle of it is in use, and is still
 * out of order, may have this handle refused, or let it miss an event until it is read again.
 */
const MAX_SESSIONS = 10_000;
const MAX_TIMES = 8;

export class Revisions {
  readonly #seen = new Map<string, Seen>();

  /** The row with its revision, where `row.revision` is its `update_time`. */
  placed(row: SessionRow, columns: StandingColumns): SessionRow {
    const revision = this.#revisionOf(row, columns);
    return revision === row.revision ? row : { ...row, revision };
  }

  #revisionOf(row: SessionRow, columns: StandingColumns): number {
    const { revision: updated, created } = row;
    const later = Number(columns.later);
    const replaced = parseTime(columns.replaced_at) ?? 0;
    const latest = Math.max(
      created,
      updated,
      replaced,
      parseTime(columns.newest) ?? 0,
      parseTime(columns.kept_time) ?? 0,
    );
    // Neither a creation nor a replacement leaves an event at its time.
    const isAppended = updated !== created && updated !== replaced;
    const isInOrder = updated === latest && later <= (isAppended ? 1 : 0);
    if (isInOrder && this.#seen.size === 0) return updated;

    const name = nameOf(row);
    const seen = this.#seen.get(name);
    const mark = `${updated} ${later}`;
    if (seen?.mark === mark) return seen.revision;
    const last = seen?.revision ?? 0;
    if (isInOrder && updated > last) return updated;
    const revision = Math.max(latest, last) + 1;
    this.#remember(name, { mark, revision, times: new Map(seen?.times).set(revision, updated) });
    return revision;
  }

  #remember(name: string, seen: Seen): void {
    forget(seen.times, MAX_TIMES);
    putLast(this.#seen, name, seen, MAX_SESSIONS);
  }

  /** What Python calls the session's marker at that revision: its `update_time` as ISO 8601. */
  markerOf(key: Required<StorageKey>, revision: number): string {
    const updated = this.#seen.get(nameOf(key))?.times.get(revision) ?? revision;
    return timeText(updated).replace(' ', 'T');
  }
}

function nameOf({ appName, userId, sessionId }: Required<StorageKey>): string {
  return JSON.stringify([appName, userId, sessionId]);
}
