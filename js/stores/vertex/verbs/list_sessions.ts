import type { JsonObject } from '../../../values/json/rules.js';
import { sortList } from '../../../core/storage/list_place.js';
import type { StorageListRequest } from '../../../core/storage/requests.js';
import { NO_ROWS } from '../../../core/storage/rows.js';
import type { Listing, Rows, SessionRow, StorageKey } from '../../../core/storage/rows.js';
import { isOwnedBy, listedRow, sharedRow } from './session_resource.js';
import type { Sessions } from './sessions.js';

/**
 * Lists one page of sessions. It reads all sessions for any page: the server gives no total, and does not
 * order ties by id.
 */
export async function listSessions(
  sessions: Sessions,
  request: StorageListRequest,
): Promise<Listing> {
  const { appName, userId, offset, limit, after } = request;
  const { listUrl } = sessions.engineUrls(appName);
  const rows: SessionRow[] = [];
  for await (const page of sessionPages(sessions, listUrl, userId)) {
    const owned = page.filter((resource) => userId === undefined || isOwnedBy(resource, userId));
    rows.push(...owned.map((resource) => listedRow(appName, resource)));
  }
  // What was read after a place is all returned, so that a walk need not read it again.
  const end = limit === undefined || after !== undefined ? undefined : offset + limit;
  return {
    sessions: sortList(rows, request).slice(offset, end),
    users: [],
    app: undefined,
    total: rows.length,
  };
}

/**
 * Lists sessions from the server, page by page. In the server's filter, a `*` in a user id matches any text
 * and cannot be escaped. So a caller that asks for one user must check the owner of each session.
 *
 * @param userId absent: the sessions of all users
 * @param pageSize the requested page size; absent: the server's default
 */
export function sessionPages(
  { rest }: Sessions,
  listUrl: string,
  userId: string | undefined,
  pageSize?: number,
): AsyncGenerator<JsonObject[]> {
  const filter =
    userId === undefined ? undefined : `user_id="${userId.replace(/["\\]/g, String.raw`\$&`)}"`;
  return rest.pages(listUrl, { filter, pageSize }, 'sessions');
}

/**
 * Reads the states of a user and an app from one of their sessions: the server stores them nowhere else. It
 * shows the same keys in all their sessions, so any one will do. Without a session, the states are empty.
 */
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
