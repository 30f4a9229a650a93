import { isSessionError } from '../errors/errors.js';
import { setDescription } from '../model/description.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { ChangesSince, ListChangesRequest } from '../model/changes_since.js';
import type { SessionStore } from '../storage/session_store.js';
import { APPENDED, MOST_CHANGED, STALE_POLICIES } from '../wasm/protocol.js';
import { corruptRecord, parseEventText } from './stored_events.js';

/**
 * Reads what has changed in a session. The storage reads it as it does for the append of a handle; here there are no
 * events to append, so it locks and writes nothing.
 *
 * @returns `undefined` if there is no session
 */
export async function readChanges(
  store: SessionStore,
  {
    appName,
    userId,
    sessionId,
    since,
    created: known,
    signal,
    onRetry,
  }: ListChangesRequest & StorageCall,
): Promise<ChangesSince | undefined> {
  const key = { appName, userId, sessionId };
  const call = { signal, onRetry };
  const verb = store.readChanges;
  if (verb !== undefined) return verb.call(store, key, since, known, call);
  for (;;) {
    const head = await store.get(key, 0, undefined, call);
    if (head === undefined) return undefined;
    const [created, revision, lastUpdateTime, , , title, labels] = head;
    const isRecreated = created > since || created !== (known ?? created);
    const changes: ChangesSince = { created, revision, lastUpdateTime, isRecreated };
    setDescription(changes, title, labels);
    if (isRecreated || revision < since) return changes;
    if (revision === since) return { ...changes, events: [] };
    const position = { created, revision: since, lastEventId: undefined };
    const append = { key, position, policy: STALE_POLICIES.merge, events: [], ...call };
    try {
      const appended = await store.append(append);
      changes.revision = appended[APPENDED.revision];
      changes.lastUpdateTime = appended[APPENDED.lastUpdateTime];
      const missed = appended[APPENDED.missed] ?? [];
      if (missed.length >= MOST_CHANGED) return changes;
      changes.events = missed
        .sort(([one], [other]) => one - other)
        .map(([seq, revision, text]) => {
          const event = parseEventText(text);
          if (event) return { seq, revision, event };
          throw corruptRecord(`event at revision ${seq} of session "${sessionId}"`, undefined);
        });
      changes.state = JSON.parse(appended[APPENDED.state]!) as object;
      return changes;
    } catch (error) {
      // The session was deleted between the two reads; another one may have its id.
      if (!isSessionError(error, 'not_found')) throw error;
    }
  }
}
