/**
 * The scope of a state value, given by the prefix of its key.
 *
 * The scopes and prefixes are the ADK's. Any other prefix (`cart:items`) is part of an ordinary
 * session key.
 */

/**
 * Prefix of keys that all users and sessions of an app share.
 *
 * @example
 * ```ts
 * import { APP_PREFIX } from 'adk-session-wasm';
 *
 * const key = `${APP_PREFIX}motd`; // 'app:motd'
 * ```
 */
export const APP_PREFIX = 'app:';
/**
 * Prefix of keys that all sessions of one user of an app share.
 *
 * @example
 * ```ts
 * import { USER_PREFIX } from 'adk-session-wasm';
 *
 * const key = `${USER_PREFIX}name`; // 'user:name'
 * ```
 */
export const USER_PREFIX = 'user:';
/**
 * Prefix of keys that live for one invocation and are never stored.
 *
 * @example
 * ```ts
 * import { TEMP_PREFIX } from 'adk-session-wasm';
 *
 * const key = `${TEMP_PREFIX}socket`; // 'temp:socket'
 * ```
 */
export const TEMP_PREFIX = 'temp:';
/**
 * The value that removes its key in a delta. Stored events hold removals in this form, and adk-java
 * uses the same text on the wire.
 *
 * @example
 * ```ts
 * import { createEvent, REMOVED } from 'adk-session-wasm';
 *
 * const event = createEvent({ actions: { stateDelta: { topic: REMOVED } } });
 * ```
 */
export const REMOVED = '__ADK_SENTINEL_REMOVED__';

/** Returns whether `key` lives for one invocation only. */
export function isTemp(key: string): boolean {
  return key.startsWith(TEMP_PREFIX);
}

/** Returns whether `key` outlives its session: it belongs to the user or the app. */
export function isShared(key: string): boolean {
  return key.startsWith(USER_PREFIX) || key.startsWith(APP_PREFIX);
}
