import type { JsonObject } from '../../../values/json/rules.js';
import { invalid, invalidValue } from '../../../values/errors/invalid.js';
import type { Description, Expiry } from '../../../values/model/description.js';
import { isOwnedBy } from './session_resource.js';
import type { SessionAddress, Sessions } from './sessions.js';

const MIN_TTL_SECONDS = 86_400;
const TTL = /^\d{1,12}(?:\.\d{1,9})?s$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** @throws SessionError `invalid_argument` if it is not as the server wants it */
function expiryFields({ ttl, expireTime }: Expiry): JsonObject {
  if (ttl === undefined) {
    const text = String(expireTime);
    if (RFC_3339.test(text) && !Number.isNaN(Date.parse(text))) return { expireTime };
    throw invalidValue('expireTime', 'must be a time as 2030-01-31T12:00:00Z', expireTime);
  }
  if (expireTime !== undefined) throw invalid('expireTime', 'must not be given together with ttl');
  if (TTL.test(String(ttl)) && parseFloat(ttl) >= MIN_TTL_SECONDS) return { ttl };
  throw invalidValue('ttl', 'must be at least a day of seconds, as 86400s', ttl);
}

/** Returns the fields of the resource that a description sets; an empty text sets none. */
export function descriptionFields(description: Description): JsonObject {
  const { title, labels, expiry } = description;
  return {
    ...(expiry !== undefined && expiryFields(expiry)),
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
  const fields = descriptionFields(change);
  const resource = await sessions.find(address);
  if (resource === undefined || !isOwnedBy(resource, address.userId)) return false;
  const updateMask = Object.keys(fields).join(',');
  if (updateMask === '') return true;
  const { rest } = sessions;
  const patched = await rest.repeat(() =>
    sessions.unlessNotFound(rest.request('PATCH', address.url, { updateMask }, fields)),
  );
  return patched !== undefined;
}
