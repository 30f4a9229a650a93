import { isEqualText } from '../../../values/json/equal.js';
import type { JsonObject } from '../../../values/json/rules.js';
import { parseTime } from '../../../values/python/micros.js';
import { hasStatus } from '../../http/http_errors.js';
import { idFromName } from '../events/foreign_event.js';
import { sessionPages } from './list_sessions.js';
import { waitForOperation } from '../rest/operation.js';
import type { StorageDeleteUnchangedRequest } from '../../../core/storage/requests.js';
import { readSession } from './read_session.js';
import { isOwnedBy, listedRow } from './session_resource.js';
import type { SessionAddress, Sessions } from './sessions.js';

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
