import type { CompositeSessionKey } from '../model/session.js';
import { type CursorKind, cursorText, readPlace } from './cursor.js';

/**
 * A place is the revision that created the session, and the id of an event. An event keeps its place when it
 * is replaced, so its id is all that a storage needs.
 */
export const EVENT_CURSOR: CursorKind = {
  version: 'e1',
  owner: 'session',
  isPlace: ([created, eventId]) => typeof created === 'number' && typeof eventId === 'string',
};

/** What the cursors of a session's events belong to. */
export function cursorOwner({ appName, userId, sessionId }: CompositeSessionKey): string[] {
  return [appName, userId, sessionId];
}

/**
 * Returns the cursor at another event of the same session.
 *
 * @param cursor any cursor that a page of the session's events had
 * @throws SessionError `invalid_argument` if it is no cursor of this session
 */
export function cursorAt(key: CompositeSessionKey, cursor: string, eventId: string): string {
  const owner = cursorOwner(key);
  const [created] = readPlace('cursor', EVENT_CURSOR, owner, cursor);
  return cursorText(EVENT_CURSOR, owner, [created, eventId]);
}
