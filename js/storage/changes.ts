/** What has changed in a session since a revision; see `ListChangesRequest`. */
import type { ChangesSince } from '../model/changes_since.js';
import { setDescription } from '../model/description.js';
import { MOST_CHANGED } from '../wasm/protocol.js';
import type { ChangesRequest, MissedEvent, ReadSession } from './backend.js';
import { corruptRecord, parseEventText } from './stored_events.js';

/** Returns the session as it is, without events if some have changed. */
export function changesOf(
  session: Omit<ReadSession, 'state' | 'events'>,
  { since, created: known }: ChangesRequest,
): ChangesSince {
  const { created, revision, lastUpdateTime, title, labels } = session;
  const isRecreated = created > since || created !== (known ?? created);
  const changes: ChangesSince = { created, revision, lastUpdateTime, isRecreated };
  setDescription(changes, { title, labels });
  return !isRecreated && revision === since ? { ...changes, events: [] } : changes;
}

/** Whether the events that have changed are needed. */
export function hasChanged({ isRecreated, revision }: ChangesSince, since: number): boolean {
  return !isRecreated && revision > since;
}

/**
 * Adds the events that have changed, unless there are too many.
 *
 * @param state the JSON object of the state, with the keys of all scopes
 */
export function withEvents(
  changes: ChangesSince,
  { key }: ChangesRequest,
  rows: readonly MissedEvent[],
  state: string,
): ChangesSince {
  if (rows.length >= MOST_CHANGED) return changes;
  const events = [...rows]
    .sort((one, other) => one.seq - other.seq)
    .map(({ seq, revision, text }) => {
      const event = parseEventText(text);
      if (event) return { seq, revision, event };
      const record = `event at revision ${seq} of session "${key.sessionId}"`;
      throw corruptRecord(record, undefined);
    });
  return { ...changes, events, state: JSON.parse(state) as object };
}
