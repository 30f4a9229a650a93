/** Converts sessions from and to the API's resources. */
import { parseTime } from '../../../values/python/micros.js';
import { SessionError } from '../../../values/errors/errors.js';
import { defineMember } from '../../../values/members.js';
import { isPlainObject, type JsonObject } from '../../../values/json/rules.js';
import type { Description } from '../../../values/model/description.js';
import { joinScopes, splitByScope } from '../../../values/state/keys.js';
import { isTemp, type SharedScope } from '../../../values/state/scope.js';
import type { Changes, SessionRow, SharedRow } from '../../../core/storage/rows.js';
import { idFromName } from '../events/event_resource.js';

export function isOwnedBy({ userId }: JsonObject, user: string): boolean {
  return userId === user;
}

/** Returns the creation time in microseconds since 1970. */
export function createdAt(resource: JsonObject): number {
  return timeOf(resource, 'createTime');
}

function timeOf(resource: JsonObject, field: 'createTime' | 'updateTime'): number {
  const micros = parseTime(resource[field]);
  if (micros !== undefined) return micros;
  const record = `session ${JSON.stringify(idFromName(resource.name))}`;
  throw new SessionError('corrupt_record', `The ${field} of ${record} cannot be read.`, { record });
}

/**
 * Returns the storage row of a session.
 *
 * The server's `updateTime` is used as the session's time, both in lists and in single reads. `user:` and
 * `app:` keys stay in the session's state under their full names, as the server shows them. Nothing here
 * tells to which other sessions the server shows them.
 *
 * @param newest revision of the last event, in microseconds; absent if no event is known
 */
export function sessionRow(
  appName: string,
  resource: JsonObject,
  newest: number | undefined,
): SessionRow {
  const created = createdAt(resource);
  const updated = timeOf(resource, 'updateTime');
  return {
    appName,
    userId: typeof resource.userId === 'string' ? resource.userId : '',
    sessionId: idFromName(resource.name),
    created,
    revision: Math.max(created, newest ?? created),
    lastUpdateTime: Math.floor(updated / 1000),
    state: JSON.stringify(stateOf(resource)),
    createTime: created / 1000,
    ...descriptionOf(resource),
  };
}

function descriptionOf(resource: JsonObject): Description {
  const title = resource.displayName;
  const labels = resource.labels;
  const isLabelled = isPlainObject(labels) && Object.keys(labels).length > 0;
  return {
    title: typeof title === 'string' ? title : undefined,
    labels: isLabelled ? JSON.stringify(labels) : undefined,
  };
}

/**
 * Returns the storage row of a listed session. A list has no events, so `updateTime` stands in for the last
 * one's time.
 */
export function listedRow(appName: string, resource: JsonObject): SessionRow {
  return sessionRow(appName, resource, timeOf(resource, 'updateTime'));
}

/**
 * Returns the state that the server shows, without `temp:` keys and without `null` values. The server removes
 * no key: a removed key is `null`, as with adk-java and adk-go.
 */
export function stateOf({ sessionState }: JsonObject): Record<string, unknown> {
  const state: Record<string, unknown> = {};
  if (!isPlainObject(sessionState)) return state;
  for (const [key, value] of Object.entries(sessionState)) {
    if (value !== null && !isTemp(key)) defineMember(state, key, value);
  }
  return state;
}

/** Returns the `sessionState` to create: the keys of all scopes in one object. */
export function newState(changes: Changes): Record<string, unknown> {
  const parsed = (row: Changes['user']): object => JSON.parse(row?.state ?? '{}') as object;
  const { session, user, app } = changes;
  return joinScopes({ session: parsed(session), user: parsed(user), app: parsed(app) });
}

/** Returns the keys of one scope that the server shows, without their prefix; `undefined` if there are none. */
export function sharedRow(resource: JsonObject, scope: SharedScope): SharedRow | undefined {
  const state = splitByScope(stateOf(resource))[scope];
  if (Object.keys(state).length === 0) return undefined;
  return { revision: createdAt(resource), state: JSON.stringify(state) };
}
