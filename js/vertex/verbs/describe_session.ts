import type { JsonObject } from '../../json/rules.js';
import type { Description } from '../../model/description.js';
import { hasStatus } from '../rest/rest_errors.js';
import { isOwnedBy } from './session_resource.js';
import type { SessionAddress, Sessions } from './sessions.js';

/** Returns the fields of the resource that a description sets; an empty text sets none. */
export function descriptionFields({ title, labels, expiry }: Description): JsonObject {
  return {
    ...expiry,
    ...(title !== undefined && { displayName: title }),
    ...(labels !== undefined && { labels: JSON.parse(labels || '{}') as JsonObject }),
  };
}

/** Changes the description of a session. Returns whether the session exists. */
export async function describeSession(
  sessions: Sessions,
  address: SessionAddress,
  change: Description,
): Promise<boolean> {
  const resource = await sessions.find(address);
  if (resource === undefined || !isOwnedBy(resource, address.userId)) return false;
  const fields = descriptionFields(change);
  const updateMask = Object.keys(fields).join(',');
  if (updateMask === '') return true;
  const { rest } = sessions;
  const retries = rest.retries();
  for (;;) {
    try {
      await rest.request('PATCH', address.url, { updateMask }, fields);
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      await retries.afterFailure(error);
    }
  }
}
