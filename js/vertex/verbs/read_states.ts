/**
 * Reads the states of a user and an app from one of their sessions: the server stores them nowhere else. It
 * shows the same keys in all their sessions, so any one will do. Without a session, the states are empty.
 */
import { APP_PREFIX, USER_PREFIX } from '../../state/scope.js';
import type { Rows, StorageKey } from '../../storage/adapter.js';
import { sessionPages } from './list_sessions.js';
import { isOwnedBy, scopeRow } from './session_resource.js';
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
      app: scopeRow(resource, APP_PREFIX),
      user: userId === undefined ? undefined : scopeRow(resource, USER_PREFIX),
      events: [],
    };
  }
  return { events: [] };
}
