import { invalid } from '../../values/errors/invalid.js';
import { requireId, requireOwner } from '../../values/model/values/ids.js';
import type { Notice, WatchRequest } from '../../values/model/notice.js';
import { stateNoticeOf } from './state_notice.js';

/** @throws SessionError `invalid_argument` if a name is invalid, or a session has no user */
export function requireWatchKeys({ appName, userId, sessionId }: WatchRequest): void {
  requireOwner({ appName, userId });
  if (sessionId === undefined) return;
  requireId('sessionId', sessionId);
  if (userId === undefined) throw invalid('userId', 'must be given with a sessionId');
}

/** Returns the notice as a watcher gets it; `undefined` if it does not match the watcher's request. */
export function matchNotice(request: WatchRequest, notice: Notice): Notice | undefined {
  // They concern every watcher.
  if (notice.type === 'lost' || notice.type === 'resync') return notice;
  const { appName, userId, sessionId } = request;
  if (notice.appName !== appName) return undefined;
  if (userId === undefined) return notice;
  if (notice.userId !== userId) return stateNoticeOf(notice, undefined);
  if (sessionId === undefined || notice.type === 'stateChanged') return notice;
  if (notice.sessionId === undefined) return { ...notice, sessionId };
  return notice.sessionId === sessionId ? notice : stateNoticeOf(notice, userId);
}
