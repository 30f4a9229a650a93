/** What has changed in a session since a revision; see `ListChangesRequest`. */
import type { ChangesSince } from '../../values/model/changes_since.js';
import { setDescription } from '../../values/model/description.js';
import { MOST_CHANGED } from '../wasm/protocol.js';
import { withoutClaimMark } from '../../values/model/event/claim_mark.js';
import type { Event } from '../../values/model/event/event.js';
import type { StoredEvent } from '../../values/model/event_page.js';
import type { ChangedSession, ChangesRequest, EventPlace, MissedEvent } from './store.js';
import { corruptRecord, parseEventText } from './stored_events.js';

/**
 * Returns what has changed in a session. Without `events` if it was created again, if its revision is older than the
 * caller's, or if too many events have changed.
 */
export function changesOf(
  session: ChangedSession,
  { key, since, created: known }: ChangesRequest,
): ChangesSince {
  const { created, revision, lastUpdateTime, title, labels, state, events: rows } = session;
  const isRecreated = created > since || created !== (known ?? created);
  const changes: ChangesSince = { created, revision, lastUpdateTime, isRecreated };
  setDescription(changes, { title, labels });
  if (isRecreated || revision < since) return changes;
  if (revision === since) return { ...changes, events: [] };
  if (rows.length >= MOST_CHANGED) return changes;
  return {
    ...changes,
    events: storedEvents(rows, key.sessionId),
    state: JSON.parse(state) as object,
  };
}

/**
 * Parses the rows of events, and returns them in the order of their appends.
 *
 * @throws SessionError `corrupt_record` naming the first event that cannot be read
 */
export function storedEvents(rows: readonly MissedEvent[], sessionId: string): StoredEvent[] {
  return changedEvents({ events: rows }).map(({ event, ...place }) => {
    if (event) return { ...place, event };
    const record = `event at revision ${place.seq} of session "${sessionId}"`;
    throw corruptRecord(record, undefined);
  });
}

/** Returns the events in the order of their appends. A damaged one has no `event`. */
export function changedEvents({
  events,
}: Pick<ChangedSession, 'events'>): (EventPlace & { readonly event: Event | undefined })[] {
  return [...events]
    .sort((one, other) => one.seq - other.seq)
    .map(({ text, ...place }) => {
      const event = parseEventText(text);
      return { ...place, event: event && withoutClaimMark(event) };
    });
}
