import { invalidValue } from '../../errors/invalid.js';
import { fitsUtf8, isWellFormed } from '../../json/text.js';

/** The most bytes of UTF-8 in an id. */
const MAX_ID_BYTES = 512;

/** The rule of an id, for messages. */
export const ID_RULE = `must be well-formed text of 1 to ${MAX_ID_BYTES} bytes of UTF-8`;

/** Returns whether `id` is a valid id of an app, a user, a session or an event. */
export function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && isWellFormed(id) && fitsUtf8(id, MAX_ID_BYTES);
}

/**
 * Returns whether a session can have an id: there is none with a blank or malformed one.
 *
 * @throws SessionError `invalid_argument` if the member is absent, for example because the request has an `id`
 */
export function isSessionId(id: unknown): id is string {
  if (id === undefined) requireId('sessionId', id);
  return isId(id);
}

/** @throws SessionError `invalid_argument` naming `argument`, if `id` is not a valid id */
export function requireId(argument: string, id: unknown): string {
  if (isId(id)) return id;
  throw invalidValue(argument, ID_RULE, id);
}

/** @throws SessionError `invalid_argument` naming the id of the app or the user that is not valid */
export function requireUser({ appName, userId }: { appName: unknown; userId: unknown }): void {
  requireId('appName', appName);
  requireId('userId', userId);
}

/** Does the same for the key of a session. */
export function requireKey(key: { appName: unknown; userId: unknown; sessionId: unknown }): void {
  requireUser(key);
  requireId('sessionId', key.sessionId);
}

/** Does the same for the owner of a shared state: a user, or without `userId` the app. */
export function requireOwner({ appName, userId }: { appName: unknown; userId?: unknown }): void {
  requireId('appName', appName);
  if (userId !== undefined) requireId('userId', userId);
}

/** Returns whether an id stands for none, so that a fresh one is drawn. */
export function isBlank(id: unknown): boolean {
  return id === undefined || id === null || (typeof id === 'string' && id.trim() === '');
}

/** The key of a session, of a user or of an app. */
interface AnyKey {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Returns the key of a session, or of its owner, as one text: other keys have other texts. */
export function keyText({ appName, userId, sessionId }: AnyKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}
