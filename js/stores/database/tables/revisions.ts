/**
 * Gives each session a revision that grows with every change, whoever made it.
 *
 * Python sets `update_time` to the time of the event that it appends. That may be the stored time, or an
 * earlier one: Python's clock is behind, or the event was made before another event was appended. Two numbers
 * still reveal the append: `update_time`, and the number of events with this time or a later one. Either
 * `update_time` changes, or it stays and the number grows by one. Events are deleted with their session, or by a
 * write of ours, which raises `update_time`.
 *
 * Most sessions are in order: nothing is later than `update_time`, and only the last event has that time.
 * Their revision is `update_time`, and nothing is remembered.
 *
 * The revision of a session out of order must be higher than every time its tables had before. No column
 * stores such a number. So the session gets the next free revision, and this program remembers which state of
 * the session it stands for. Other programs have their own handles and remember their own revisions. The next
 * write of this package, from any program, is later than all of it and puts the session in order.
 *
 * @module
 */
import type { StoredTime } from '../engine/engine.js';
import type { SessionRow, StorageKey } from '../../../core/storage/rows.js';
import { putLast } from '../../../values/bounded_map.js';
import { parseTime } from '../../../values/python/micros.js';
import { keyText } from '../../../values/model/values/ids.js';

/** The columns, beside a session's row, from which its revision is computed. */
export interface RevisionColumns {
  /** The latest time of the session's events; `null` if it has none. */
  newest: StoredTime | null;
  /** The number of events at the session's `update_time` or later. */
  later: number | string | bigint;
  /** The time of our last write to the session's row in the side table; `null` if it has no such row. */
  side_time: StoredTime | null;
  /** The time at which we last replaced an event. That write leaves no event at this time. */
  replaced_at: StoredTime | null;
}

/** The last remembered revision of a session out of order. */
interface LastRevision {
  /** `update_time` and the number of events. The session never has the same pair again in another state. */
  readonly fingerprint: string;
  readonly revision: number;
}

/**
 * The most sessions that are remembered. A session may be forgotten while it is out of order and a handle of
 * it is in use. This handle may then be refused, or miss an event until it is read again.
 */
const MAX_SESSIONS = 10_000;

/** Computes the revisions of sessions, and remembers those of sessions out of order. */
export class Revisions {
  readonly #seen = new Map<string, LastRevision>();

  /** Returns the row with its revision. `row.revision` is the session's `update_time`. */
  withRevision(row: SessionRow, columns: RevisionColumns): SessionRow {
    const revision = this.revisionOf(row, columns);
    return revision === row.revision ? row : { ...row, revision };
  }

  /** Returns the revision. `row.revision` is the session's `update_time`. */
  revisionOf(
    row: Required<StorageKey> & Pick<SessionRow, 'created' | 'revision'>,
    columns: RevisionColumns,
  ): number {
    const { revision: updated, created } = row;
    const later = Number(columns.later);
    const replaced = parseTime(columns.replaced_at) ?? 0;
    const latest = Math.max(
      created,
      updated,
      replaced,
      parseTime(columns.newest) ?? 0,
      parseTime(columns.side_time) ?? 0,
    );
    // A creation or a replacement leaves no event at its own time.
    const isAppended = updated !== created && updated !== replaced;
    const isInOrder = updated === latest && later <= (isAppended ? 1 : 0);
    if (isInOrder && this.#seen.size === 0) return updated;

    const name = keyText(row);
    const seen = this.#seen.get(name);
    const fingerprint = `${updated} ${later}`;
    if (seen?.fingerprint === fingerprint) return seen.revision;
    const last = seen?.revision ?? 0;
    if (isInOrder && updated > last) return updated;
    const revision = Math.max(latest, last) + 1;
    putLast(this.#seen, name, { fingerprint, revision }, MAX_SESSIONS);
    return revision;
  }
}
