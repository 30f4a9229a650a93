/** Lists and deletes the sessions of users. */
import { sortList } from '../../../core/storage/list_place.js';
import type {
  StorageListRequest,
  StorageDeleteUnchangedRequest,
} from '../../../core/storage/requests.js';
import {
  NO_ROWS,
  type Listing,
  type Rows,
  type SessionRow,
  type StorageKey,
} from '../../../core/storage/rows.js';
import { isEqualText } from '../../../values/json/equal.js';
import type { JsonObject } from '../../../values/json/rules.js';
import { parseTime } from '../../../values/python/micros.js';
import { hasStatus } from '../../http/http_errors.js';
import { idFromName } from '../events/event_resource.js';
import { waitForOperation } from '../rest/rest.js';
import { readSession } from './read_session.js';
import { isOwnedBy, listedRow, sharedRow } from './session_resource.js';
import type { Sessions, SessionAddress } from './sessions.js';

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
function sessionPages(
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

/** Deletes a session. Does nothing if it does not exist or belongs to another user. */
export async function deleteSession(sessions: Sessions, address: SessionAddress): Promise<void> {
  const resource = await sessions.find(address);
  if (resource !== undefined && isOwnedBy(resource, address.userId))
    await sendDelete(sessions, address, resource);
}

/**
 * Deletes a session that is as it was listed or read. The server has no condition for a deletion: a change
 * between the requests is not noticed.
 */
export async function deleteUnchangedSession(
  sessions: Sessions,
  address: SessionAddress,
  { revision, labels }: StorageDeleteUnchangedRequest,
): Promise<boolean> {
  const resource = await sessions.find(address);
  if (resource === undefined || !isOwnedBy(resource, address.userId)) return false;
  const row = listedRow(address.appName, resource);
  // The server keeps no order of labels.
  if (!isEqualText(row.labels ?? '{}', labels ?? '{}')) return false;
  // A read has another revision than a list: that of the last event.
  if (row.revision !== revision && (await revisionOf(sessions, address)) !== revision) return false;
  await sendDelete(sessions, address, resource);
  return true;
}

async function revisionOf(
  sessions: Sessions,
  address: SessionAddress,
): Promise<number | undefined> {
  return (await readSession(sessions, address, { window: { last: 0 } }))?.session.revision;
}

/** Deletes all sessions that the server lists for a user. A session that is created meanwhile may remain. */
export async function deleteUser(
  sessions: Sessions,
  appName: string,
  userId: string,
): Promise<void> {
  const { listUrl } = sessions.engineUrls(appName);
  const resources: JsonObject[] = [];
  // Read the whole list first: deleting the sessions of one page would shift those of the next.
  for await (const page of sessionPages(sessions, listUrl, userId)) {
    resources.push(...page.filter((resource) => isOwnedBy(resource, userId)));
  }
  for (const resource of resources) {
    const address = sessions.addressOf({ appName, userId, sessionId: idFromName(resource.name) });
    if (address !== undefined) await sendDelete(sessions, address, resource);
  }
}

/** Deletes the session of this resource, and no later one of its id. */
async function sendDelete(
  sessions: Sessions,
  address: SessionAddress,
  { createTime }: JsonObject,
): Promise<void> {
  const { rest } = sessions;
  const { url, apiUrl } = address;
  const retries = rest.retries();
  for (;;) {
    try {
      await waitForOperation(rest, apiUrl, await rest.request('DELETE', url));
      return;
    } catch (error) {
      // It is deleted: by this request, whose response was lost, or by another one.
      if (hasStatus(error, 404)) return;
      await retries.afterFailure(error);
    }
    // The request may have taken effect, and another program may have created the session again.
    const resource = await sessions.find(address);
    if (parseTime(resource?.createTime) !== parseTime(createTime)) return;
  }
}
