import { IS_OF_USER, type SharedScope } from '../../values/state/scope.js';
import type { ChangeNotice, StateChangedNotice } from '../../values/model/notice.js';

/** Makes the notice of a change of shared states. It names the user only if the user's state changed. */
export function stateNotice(
  appName: string,
  userId: string | undefined,
  scopes: readonly SharedScope[],
): StateChangedNotice {
  const isUsers = userId !== undefined && scopes.some((scope) => IS_OF_USER[scope]);
  return { type: 'stateChanged', scopes, appName, ...(isUsers && { userId }) };
}

/**
 * Returns the part of a notice that concerns other sessions of the user, or of the app if `userId` is
 * `undefined`: the change of the states that they share.
 */
export function stateNoticeOf(
  notice: ChangeNotice,
  userId: string | undefined,
): StateChangedNotice | undefined {
  if (notice.type === 'deleted' || notice.type === 'updated') return undefined;
  const scopes = notice.scopes.filter((scope) => !IS_OF_USER[scope] || userId !== undefined);
  return scopes.length > 0 ? stateNotice(notice.appName, userId, scopes) : undefined;
}
