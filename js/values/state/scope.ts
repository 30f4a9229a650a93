/**
 * The scope of a state value, given by the prefix of its key.
 *
 * The scopes and prefixes are the ADK's. Any other prefix (`cart:items`) is part of an ordinary
 * session key.
 */

/** Prefix of keys that all users and sessions of an app share. */
export const APP_PREFIX = 'app:';
/** Prefix of keys that all sessions of one user of an app share. */
export const USER_PREFIX = 'user:';
/** Prefix of keys that live for one invocation and are never stored. */
export const TEMP_PREFIX = 'temp:';

/**
 * The prefixes of the shared scopes: the states that outlive a session, because its user's or app's other
 * sessions share them. The widest comes first; SQL locks their rows in this order.
 */
export const SHARED_PREFIXES = { app: APP_PREFIX, user: USER_PREFIX } as const;

/**
 * A state that sessions share: the user's, with `user:` keys, or the app's, with `app:` keys.
 */
export type SharedScope = keyof typeof SHARED_PREFIXES;
export const SHARED_SCOPES = Object.keys(SHARED_PREFIXES) as readonly SharedScope[];

/** The same, the narrowest first: the order in notices. */
export const NARROWEST_FIRST: readonly SharedScope[] = [...SHARED_SCOPES].reverse();

/** Whether the state belongs to a user of the app. The others belong to the app itself. */
export const IS_OF_USER: Readonly<Record<SharedScope, boolean>> = { app: false, user: true };

/** The scopes whose states are stored: a session's own and the shared ones. */
export type StoredScope = 'session' | SharedScope;
export const STORED_PREFIXES = Object.entries({
  session: '',
  ...SHARED_PREFIXES,
}) as readonly (readonly [scope: StoredScope, prefix: string])[];

/**
 * The value that removes its key in a delta. Stored events hold removals in this form, and adk-java
 * uses the same text on the wire.
 */
export const REMOVED = '__ADK_SENTINEL_REMOVED__';

/** Returns whether `key` lives for one invocation only. */
export function isTemp(key: string): boolean {
  return key.startsWith(TEMP_PREFIX);
}

/** Returns the scope whose state stores `key`. A `temp:` key is never stored: ask {@link isTemp} first. */
export function storedScopeOf(key: string): StoredScope {
  return SHARED_SCOPES.find((scope) => key.startsWith(SHARED_PREFIXES[scope])) ?? 'session';
}

/** Returns whether `key` outlives its session: it belongs to the user or the app. */
export function isShared(key: string): boolean {
  return storedScopeOf(key) !== 'session';
}
