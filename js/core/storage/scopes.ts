import { IS_OF_USER, type SharedScope } from '../../values/state/scope.js';
import type { StorageKey } from './rows.js';

/** The owner of a shared state: a user, or without `userId` the app. */
export interface StateOwner {
  readonly appName: string;
  readonly userId?: string | undefined;
}

/** Whether a key is an owner itself, or belongs to it: each key of an app belongs to the app. */
export function belongsTo(key: StateOwner, { appName, userId }: StateOwner): boolean {
  return key.appName === appName && (userId === undefined || key.userId === userId);
}

/** Whether a session is the one that is named, or, without `sessionId`, one of its owner. */
export function isWithin(
  session: StateOwner & { readonly sessionId: string },
  { sessionId, ...owner }: StateOwner & { readonly sessionId?: string | undefined },
): boolean {
  return belongsTo(session, owner) && (sessionId ?? session.sessionId) === session.sessionId;
}

export function scopeOf({ userId }: StateOwner): SharedScope {
  return userId === undefined ? 'app' : 'user';
}

/** Returns the owner of the state that a scope has for these names. */
export function ownerOf(scope: SharedScope, { appName, userId }: StateOwner): StateOwner {
  return IS_OF_USER[scope] ? { appName, userId } : { appName };
}

/** Returns the key of a session, or of the owner of a shared state. */
export function storageKey({
  appName,
  userId,
  sessionId,
}: StateOwner & { readonly sessionId?: string | undefined }): StorageKey {
  if (userId === undefined) return { appName };
  return sessionId === undefined ? { appName, userId } : { appName, userId, sessionId };
}
