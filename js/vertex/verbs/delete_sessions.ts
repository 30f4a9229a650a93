import { hasStatus } from '../rest/failure.js';
import { lastSegment } from '../events/foreign_event.js';
import { sessionPages } from './list_sessions.js';
import { waitFor } from '../rest/operation.js';
import { isOwnedBy } from './session_resource.js';
import type { SessionPlace, Sessions } from './sessions.js';

/** Deletes a session. Does nothing if it does not exist or belongs to another user. */
export async function deleteSession(sessions: Sessions, place: SessionPlace): Promise<void> {
  const resource = await sessions.find(place);
  if (resource !== undefined && isOwnedBy(resource, place.userId)) await remove(sessions, place);
}

/** Deletes all sessions that the server lists for a user. A session that is created meanwhile may remain. */
export async function deleteUser(
  sessions: Sessions,
  appName: string,
  userId: string,
): Promise<void> {
  const { listUrl } = sessions.placesOf(appName);
  const ids: string[] = [];
  // Read the whole list first: deleting the sessions of one page would shift those of the next.
  for await (const page of sessionPages(sessions, listUrl, userId)) {
    ids.push(
      ...page.filter((found) => isOwnedBy(found, userId)).map(({ name }) => lastSegment(name)),
    );
  }
  for (const sessionId of ids) {
    const place = sessions.placeOf({ appName, userId, sessionId });
    if (place !== undefined) await remove(sessions, place);
  }
}

async function remove({ rest }: Sessions, { url, apiUrl }: SessionPlace): Promise<void> {
  const tries = rest.tries();
  for (;;) {
    try {
      await waitFor(rest, apiUrl, await rest.once('DELETE', url));
      return;
    } catch (error) {
      // It is deleted: by this request, whose response was lost, or by another one.
      if (hasStatus(error, 404)) return;
      await tries.next(error);
    }
  }
}
