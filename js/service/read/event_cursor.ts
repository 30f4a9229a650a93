import type { CompositeSessionKey } from '../../values/model/session.js';
import { type CursorKind, cursorText, readPlace } from '../../values/json/cursor.js';

/**
 * A place is the revision that created the session, and the id of an event. An event keeps its position when it is
 * replaced, so a storage needs only its id.
 */
export const EVENT_CURSOR: CursorKind = {
  version: 'e1',
  owner: 'session',
  isPlace: ([created, eventId]) => typeof created === 'number' && typeof eventId === 'string',
};

/** Returns the owner of the cursors of a session's events. */
export function cursorOwner({ appName, userId, sessionId }: CompositeSessionKey): string[] {
  return [appName, userId, sessionId];
}

/**
 * Returns the cursor at another event of the same session.
 *
 * @param cursor any cursor that a page of the session's events had
 * @throws SessionError `invalid_argument` if it is not a cursor of this session
 */
export function cursorAt(key: CompositeSessionKey, cursor: string, eventId: string): string {
  const owner = cursorOwner(key);
  const [created] = readPlace('cursor', EVENT_CURSOR, owner, cursor);
  return cursorText(EVENT_CURSOR, owner, [created, eventId]);
}
