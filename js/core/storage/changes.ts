/** What has changed in a session since a revision; see `ListChangesRequest`. */
import type { ChangesSince, StoredEvent } from '../../values/model/event_page.js';
import { setDescription } from '../../values/model/description.js';
import { MOST_CHANGED } from '../wasm/protocol.js';
import { withoutIdempotencyKey } from '../../values/model/event/metadata.js';
import type { ChangedSession, ReadSession, SinceRequest } from '../read.js';
import type { MissedEvent } from './store.js';
import { corruptRecord, parseEventText } from './stored_events.js';

/** A session with the rows of the events that were written after a revision, in any order. */
export type RowsSince = ReadSession<readonly MissedEvent[]>;

/** Returns what has changed in a session, with its events if they are all that a caller lacks. */
export function changedSession(session: RowsSince, request: SinceRequest): ChangedSession {
  const { events: rows, ...head } = session;
  const { key, since } = request;
  const isKnown = !isRecreated(head, request) && head.revision >= since;
  if (!isKnown || rows.length >= MOST_CHANGED) return { ...head, state: undefined };
  const events = head.revision === since ? [] : storedEvents(rows, key.sessionId);
  return { ...head, events };
}

/** Returns what a caller learns of the changes of a session. */
export function changesOf(session: ChangedSession, request: SinceRequest): ChangesSince {
  const { created, revision, lastUpdateTime, title, labels, state, events } = session;
  const changes: ChangesSince = {
    created,
    revision,
    lastUpdateTime,
    isRecreated: isRecreated(session, request),
    ...(events && { events }),
    ...(events &&
      state !== undefined &&
      revision !== request.since && { state: JSON.parse(state) as object }),
  };
  return setDescription(changes, { title, labels });
}

/** Whether a session was deleted since a revision, and created again. */
function isRecreated(
  { created }: Pick<ChangedSession, 'created'>,
  { since, created: known }: SinceRequest,
): boolean {
  return created > since || created !== (known ?? created);
}

/**
 * Parses the rows of events, and returns them in the order of their appends.
 *
 * @throws SessionError `corrupt_record` naming the first event that cannot be read
 */
export function storedEvents(rows: readonly MissedEvent[], sessionId: string): StoredEvent[] {
  return [...rows]
    .sort((one, other) => one.seq - other.seq)
    .map(({ text, ...place }) => {
      const event = parseEventText(text);
      if (event) return { ...place, event: withoutIdempotencyKey(event) };
      const record = `event at revision ${place.seq} of session "${sessionId}"`;
      throw corruptRecord(record, undefined);
    });
}
