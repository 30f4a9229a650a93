/** Cursors: the places in lists and among events that callers get as texts. */
import { kindOf } from '../../../values/errors/describe.js';
import { invalid } from '../../../values/errors/invalid.js';
import { parseJson } from '../../../values/json/parse.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { isTime } from '../../../values/model/values/time.js';

// The texts of cursors: a version, a checksum of the owner and the place, and the place as JSON. The owner is the
// session or the list that the cursor belongs to.

/** A kind of cursor. */
interface CursorKind {
  /** The version of the form of the texts. */
  readonly version: string;
  /** The word for the owner in messages. */
  readonly owner: string;
  readonly isPlace: (place: readonly unknown[]) => boolean;
}

export function cursorText(
  { version }: CursorKind,
  owner: readonly unknown[],
  place: readonly unknown[],
): string {
  const text = JSON.stringify(place);
  return `${version}.${checksum(JSON.stringify(owner) + text).toString(36)}.${text}`;
}

/**
 * Reads the place of a cursor with this owner.
 *
 * @param name the member of the request that holds it
 * @throws SessionError `invalid_argument` with that member as `key`
 */
export function readPlace(
  name: string,
  kind: CursorKind,
  owner: readonly unknown[],
  text: unknown,
): readonly unknown[] {
  if (typeof text !== 'string') throw foreignCursor(name, kind, kindOf(text));
  try {
    const place = parseJson(text.slice(text.indexOf('['))) as unknown[];
    if (cursorText(kind, owner, place) === text && kind.isPlace(place)) return place;
  } catch {
    // It is not JSON.
  }
  throw foreignCursor(name, kind, 'another text');
}

/** Makes the error for a cursor that cannot be used. */
export function foreignCursor(name: string, { owner }: CursorKind, actual: string): Error {
  return invalid(
    name,
    `must be a cursor that this version of the package gave for this ${owner}; it is ${actual}`,
  );
}

/** FNV-1a, 32 bits. It finds cursors of another owner and typing errors. It is no signature: anybody can compute it. */
function checksum(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return sum >>> 0;
}

/** Cursors of lists. A place is the number of the page that ends there, and the session's time in the list, id and user. */
export const LIST_CURSOR: CursorKind = {
  version: 'l2',
  owner: 'list',
  isPlace: ([page, time, sessionId, userId]) =>
    Number.isSafeInteger(page) &&
    isTime(time) &&
    typeof sessionId === 'string' &&
    typeof userId === 'string',
};

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
