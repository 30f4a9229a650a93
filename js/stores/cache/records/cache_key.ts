/** Keys of sessions and shared states, and their names: strings that serve as keys of a `Map`. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { requireKey, requireOwner, keyText } from '../../../values/model/values/ids.js';

/** A session, or without `sessionId` the state of a user, or without `userId` too that of an app. */
export interface CacheKey {
  /** The app. */
  readonly appName: string;
  /** The user. Absent: the state of the app. */
  readonly userId?: string | undefined;
  /** The session. Absent: the state of the user or the app. */
  readonly sessionId?: string | undefined;
}

/** Returns the text of a key, from which {@link keyOfName} makes the key again. */
export function nameOf(key: CacheKey): string {
  return keyText(key);
}

export function keyOfName(name: string): CacheKey {
  const [appName, userId, sessionId] = JSON.parse(name) as [string, string | null, string | null];
  return {
    appName,
    ...(userId !== null && { userId }),
    ...(sessionId !== null && { sessionId }),
  };
}

/** Returns the key alone, without what else an object has. */
export function pickSessionKey({
  appName,
  userId,
  sessionId,
}: CompositeSessionKey): CompositeSessionKey {
  return { appName, userId, sessionId };
}

export function isSession(key: CacheKey): key is CompositeSessionKey {
  return key.sessionId !== undefined;
}

/** @throws SessionError `invalid_argument` if it names no session, user or app */
export function takeCacheKey(given: CacheKey): CacheKey {
  const { appName, userId, sessionId } = Object(given) as CacheKey;
  if (sessionId !== undefined) return takeSessionKey({ appName, userId, sessionId });
  requireOwner({ appName, userId });
  return { appName, userId };
}

/** @throws SessionError `invalid_argument` if it names no session */
function takeSessionKey(given: CacheKey): CompositeSessionKey {
  const key = pickSessionKey(Object(given) as CompositeSessionKey);
  requireKey(key);
  return key;
}
