/**
 * Computes a session's events from everything that was posted. A posted event cannot be changed. So a new
 * version is posted as one more event, and replaces the first one with its id.
 */
import type { EventRow } from '../../../core/storage/rows.js';
import type { PostedEvent } from './event_resource.js';

/**
 * Returns the storage rows, ordered by `seq`.
 *
 * `seq` is the position of the first version of an event, and `revision` that of its last version. If other
 * clients posted several events at the same microsecond, each is placed one microsecond after the one before.
 *
 * @param posted in the server's order
 */
export function toEventRows(posted: readonly PostedEvent[]): EventRow[] {
  const rows = new Map<string, EventRow>();
  let last = -1;
  for (const { id, postedAt, firstPostedAt, timestamp, text } of posted) {
    last = Math.max(last + 1, postedAt);
    const seq = rows.get(id)?.seq ?? firstPostedAt ?? last;
    rows.set(id, { id, seq, revision: last, timestamp, text });
  }
  return [...rows.values()].sort((one, other) => one.seq - other.seq);
}

/** Returns the highest revision of the rows; `undefined` if there are none. */
export function latestRevision(rows: readonly EventRow[]): number | undefined {
  return rows.reduce<number | undefined>(
    (newest, { revision }) => Math.max(newest ?? 0, revision),
    undefined,
  );
}
