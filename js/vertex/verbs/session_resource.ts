/** A session, to and from the API's. */
import { parseTime } from '../../python/micros.js';
import { SessionError } from '../../errors/errors.js';
import { defineMember } from '../../members/member.js';
import { isPlainObject } from '../../json/rules.js';
import { APP_PREFIX, isTemp, USER_PREFIX } from '../../state/scope.js';
import type { Changes, ScopeRow, SessionRow } from '../../storage/adapter.js';
import { lastSegment } from '../events/foreign_event.js';
import type { Json } from '../rest/rest.js';

export function isOwnedBy({ userId }: Json, user: string): boolean {
  return userId === user;
}

/** Microseconds since 1970 of when it was created. */
export function createdAt(resource: Json): number {
  return timeOf(resource, 'createTime');
}

function timeOf(resource: Json, field: 'createTime' | 'updateTime'): number {
  const micros = parseTime(resource[field]);
  if (micros !== undefined) return micros;
  const record = `session ${JSON.stringify(lastSegment(resource.name))}`;
  throw new SessionError('corrupt_record', `The ${field} of ${record} cannot be read.`, { record });
}

/**
 * The row of the seam.
 *
 * The server's `updateTime` is the session's time, in a list as well as alone. Keys of users and apps stay
 * in the session's state under their whole names, as the server shows them: whom else it shows them to is
 * not to be known from here.
 *
 * @param newest `posted` of the last event; absent, where none is known
 */
export function sessionRow(
  appName: string,
  resource: Json,
  newest: number | undefined,
): SessionRow {
  const created = createdAt(resource);
  const updated = timeOf(resource, 'updateTime');
  return {
    appName,
    userId: typeof resource.userId === 'string' ? resource.userId : '',
    sessionId: lastSegment(resource.name),
    created,
    revision: Math.max(created, newest ?? created),
    lastUpdateTime: Math.floor(updated / 1000),
    state: JSON.stringify(stateOf(resource)),
  };
}

/** The same of a list, which knows no events. */
export function listedRow(appName: string, resource: Json): SessionRow {
  return sessionRow(appName, resource, timeOf(resource, 'updateTime'));
}

/**
 * The state that the server shows, without what should never have been kept. It removes no key: one that is
 * `null` was removed, so it is with adk-java and adk-go, too.
 */
export function stateOf({ sessionState }: Json): Record<string, unknown> {
  const state: Record<string, unknown> = {};
  if (!isPlainObject(sessionState)) return state;
  for (const [key, value] of Object.entries(sessionState)) {
    if (value !== null && !isTemp(key)) defineMember(state, key, value);
  }
  return state;
}

/** What is new, as the server is to have it: one state of all scopes. */
export function newState({ session, user, app }: Changes): Record<string, unknown> {
  const scopes = [
    ['', session],
    [USER_PREFIX, user],
    [APP_PREFIX, app],
  ] as const;
  const state: Record<string, unknown> = {};
  for (const [prefix, row] of scopes) {
    const values = JSON.parse(row?.state ?? '{}') as Record<string, unknown>;
    for (const [key, value] of Object.entries(values)) defineMember(state, prefix + key, value);
  }
  return state;
}

/** What the server shows of a scope, without the prefix; absent, if that is nothing. */
export function scopeRow(resource: Json, prefix: string): ScopeRow | undefined {
  const entries = Object.entries(stateOf(resource)).filter(([key]) => key.startsWith(prefix));
  if (entries.length === 0) return undefined;
  const state: Record<string, unknown> = {};
  for (const [key, value] of entries) defineMember(state, key.slice(prefix.length), value);
  return { revision: createdAt(resource), state: JSON.stringify(state) };
}
