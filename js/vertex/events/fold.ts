/**
 * What a session's events are, of all that was posted: nothing there is ever changed, so a new version of an
 * event is posted as one more, and takes the place of the first that has its id.
 */
import type { EventRow } from '../../storage/adapter.js';
import type { PostedEvent } from './event_resource.js';

/**
 * The rows of the seam, by `seq`.
 *
 * `seq` is where the first of its id was posted, and `revision` where the last was. Of events that others
 * posted at one moment each stands a microsecond behind the one before.
 *
 * @param posted in the order of the server
 */
export function fold(posted: readonly PostedEvent[]): EventRow[] {
  const rows = new Map<string, EventRow>();
  let last = -1;
  for (const { id, posted: at, place, timestamp, text } of posted) {
    last = Math.max(last + 1, at);
    const seq = rows.get(id)?.seq ?? place ?? last;
    rows.set(id, { id, seq, revision: last, timestamp, text });
  }
  return [...rows.values()].sort((one, other) => one.seq - other.seq);
}

/** The revision after the last of them. */
export function newestOf(rows: readonly EventRow[]): number | undefined {
  return rows.reduce<number | undefined>(
    (newest, { revision }) => Math.max(newest ?? 0, revision),
    undefined,
  );
}
