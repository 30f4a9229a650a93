/** Cursors: the places in lists and among events that callers get as texts. */
import { kindOf } from '../../../values/errors/describe.js';
import { invalid } from '../../../values/errors/invalid.js';
import { parseJson } from '../../../values/json/parse.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { ListMember } from '../../../values/model/session_list.js';
import { isTime } from '../../../values/model/values/time.js';
import type { ListTime, TimedPlace } from '../list_place.js';

// The text of a cursor: a version, a checksum of the target and the place, and the place as JSON. The target is the
// session or the list that the cursor belongs to.

/** A kind of cursor. */
interface CursorKind {
  /** The version of the form of the texts. */
  readonly version: string;
  /** The word for the target in messages. */
  readonly target: string;
  readonly isPlace: (place: readonly unknown[]) => boolean;
}

export function cursorText(
  { version }: CursorKind,
  target: readonly unknown[],
  place: readonly unknown[],
): string {
  const text = JSON.stringify(place);
  return `${version}.${checksum(JSON.stringify(target) + text).toString(36)}.${text}`;
}

/**
 * Reads the place of a cursor with this target.
 *
 * @param name the member of the request that holds it
 * @throws SessionError `invalid_argument` with that member as `key`
 */
export function readPlace(
  name: string,
  kind: CursorKind,
  target: readonly unknown[],
  text: unknown,
): readonly unknown[] {
  if (typeof text !== 'string') throw foreignCursor(name, kind, kindOf(text));
  try {
    const place = parseJson(text.slice(text.indexOf('['))) as unknown[];
    if (cursorText(kind, target, place) === text && kind.isPlace(place)) return place;
  } catch {
    // It is not JSON.
  }
  throw foreignCursor(name, kind, 'another text');
}

/** Makes the error for a cursor that cannot be used. */
export function foreignCursor(name: string, { target }: CursorKind, actual: string): Error {
  return invalid(
    name,
    `must be a cursor that this version of the package gave for this ${target}; it is ${actual}`,
  );
}

/**
 * FNV-1a, 32 bits. It finds cursors of another target and typing errors. It is no signature: anybody can compute it.
 */
export function checksum(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return sum >>> 0;
}

/**
 * Cursors of lists. A place is the number of the page that ends there, and the session's time in the list, id and user.
 */
const LIST_CURSOR: CursorKind = {
  version: 'l2',
  target: 'list',
  isPlace: ([page, time, sessionId, userId]) =>
    Number.isSafeInteger(page) &&
    isTime(time) &&
    typeof sessionId === 'string' &&
    typeof userId === 'string',
};

/** A list of sessions. Only its own cursors are accepted. */
export interface CursorList extends Readonly<Record<ListMember, unknown>> {
  readonly appName: string;
  readonly userId: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly orderBy: ListTime;
  /** JSON text. Absent, or empty: any labels. */
  readonly labels: string | undefined;
  /** Absent, or empty: any title. */
  readonly title: string | undefined;
}

/** Returns the cursor at a session of a list. @param page the number of the page that ends there */
export function listCursor(list: CursorList, page: number, place: TimedPlace): string {
  const { sessionId, userId, [list.orderBy]: time } = place;
  return cursorText(LIST_CURSOR, listTarget(list), [page, time, sessionId, userId]);
}

/**
 * Reads a cursor of a list.
 *
 * @param name the member of the request that holds it
 * @throws SessionError `invalid_argument` with that member as `key`
 */
export function readListCursor(
  name: string,
  list: CursorList,
  text: unknown,
): { readonly page: number; readonly place: TimedPlace } {
  const read = readPlace(name, LIST_CURSOR, listTarget(list), text);
  const [page, time, sessionId, userId] = read as readonly [number, number, string, string];
  return { page, place: { [list.orderBy]: time, sessionId, userId } };
}

function listTarget({ appName, userId, order, orderBy, labels, title }: CursorList): unknown[] {
  const target = { appName, userId, order, orderBy, labels, title };
  return Object.values(target satisfies Record<ListMember, unknown>).map((member) =>
    member === '' ? undefined : member,
  );
}

/**
 * A place is the revision that created the session, and the id of an event. An event keeps its position when it is
 * replaced, so a storage needs only its id.
 */
export const EVENT_CURSOR: CursorKind = {
  version: 'e1',
  target: 'session',
  isPlace: ([created, eventId]) => typeof created === 'number' && typeof eventId === 'string',
};

/** Returns the target of the cursors of a session's events. */
export function eventCursorTarget({ appName, userId, sessionId }: CompositeSessionKey): string[] {
  return [appName, userId, sessionId];
}

/**
 * Returns the cursor at another event of the same session.
 *
 * @param cursor any cursor that a page of the session's events had
 * @throws SessionError `invalid_argument` if it is not a cursor of this session
 */
export function cursorAt(key: CompositeSessionKey, cursor: string, eventId: string): string {
  const target = eventCursorTarget(key);
  const [created] = readPlace('cursor', EVENT_CURSOR, target, cursor);
  return cursorText(EVENT_CURSOR, target, [created, eventId]);
}
