/** Notices as messages between tabs, and as what a server sends. */
import { isId } from '../../values/model/values/ids.js';
import { isObject } from '../../values/json/rules.js';
import { isRevision } from '../storage/checked_rows.js';
import { IS_OF_USER, NARROWEST_FIRST, type SharedScope } from '../../values/state/scope.js';
import type { Notice } from '../../values/model/notice.js';
import { PendingNotices, stateNotice } from './watcher.js';
import type { TabKind } from './tab_channel.js';

export const NOTICE_MESSAGES: TabKind<Notice> = {
  name: 'notices',
  merge: newestNotices,
  decode: decodeNotice,
};

/** Returns a valid notice; `undefined` for an unknown one. */
export function decodeNotice(value: unknown): Notice | undefined {
  if (!isObject(value)) return undefined;
  const { type, appName, userId, sessionId, revision, when, message } = value;
  if (type === 'resync') return { type };
  if (type === 'lost') {
    return typeof when === 'number' && typeof message === 'string'
      ? { type, when, message }
      : undefined;
  }
  if (!isId(appName) || !isOptional(isId, userId) || !isOptional(isId, sessionId)) return undefined;
  const scopes = decodeScopes(value.scopes);
  if (type === 'stateChanged') {
    if (scopes === undefined || scopes.length === 0) return undefined;
    if (userId === undefined && scopes.some((scope) => IS_OF_USER[scope])) return undefined;
    return stateNotice(appName, userId, scopes);
  }
  if (userId === undefined || !isOptional(isRevision, revision)) return undefined;
  if (type === 'deleted') {
    return {
      type,
      appName,
      userId,
      ...(sessionId !== undefined && { sessionId }),
      ...(revision !== undefined && { revision }),
    };
  }
  if (type === 'updated' && sessionId !== undefined) return { type, appName, userId, sessionId };
  if (type !== 'created' && type !== 'appended') return undefined;
  if (sessionId === undefined || revision === undefined || scopes === undefined) return undefined;
  return { type, appName, userId, sessionId, revision, scopes };
}

function decodeScopes(value: unknown): SharedScope[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return NARROWEST_FIRST.filter((scope) => value.includes(scope));
}

function isOptional<T>(
  isValid: (value: unknown) => value is T,
  value: unknown,
): value is T | undefined {
  return value === undefined || isValid(value);
}

/** Returns the newest notice of each session and each state. */
function newestNotices(notices: readonly Notice[]): Notice[] {
  const pending = new PendingNotices();
  for (const notice of notices) pending.push(notice);
  const newest: Notice[] = [];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) newest.push(next);
  return newest;
}
