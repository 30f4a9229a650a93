/**
 * Reads the states of a user and an app from one of their sessions: the server stores them nowhere else. It
 * shows the same keys in all their sessions, so any one will do. Without a session, the states are empty.
 */
import type { Rows, StorageKey } from '../../storage/rows.js';
import { NO_ROWS } from '../../storage/built_in_adapter.js';
import { sessionPages } from './list_sessions.js';
import { isOwnedBy, sharedRow } from './session_resource.js';
import type { Sessions } from './sessions.js';

export async function readStates(
  sessions: Sessions,
  { appName, userId }: StorageKey,
): Promise<Rows> {
  const { listUrl } = sessions.engineUrls(appName);
  // A page may be empty without being the last.
  for await (const page of sessionPages(sessions, listUrl, userId, 1)) {
    const resource = page.find((candidate) => userId === undefined || isOwnedBy(candidate, userId));
    if (resource === undefined) continue;
    return {
      app: sharedRow(resource, 'app'),
      user: userId === undefined ? undefined : sharedRow(resource, 'user'),
      events: [],
    };
  }
  return NO_ROWS;
}
