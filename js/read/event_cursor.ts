/**
 * The texts of cursors: a version, a check sum, the revision that created the session, and the id of
 * an event. An event keeps its place when it is replaced, so its id is all that a storage needs.
 */
import { kindOf } from '../errors/describe.js';
import { invalid } from '../errors/invalid.js';
import type { CompositeSessionKey } from '../model/session.js';

/** The place of an event in a session. */
export interface EventPlace {
  /** The revision that created the session. */
  readonly created: number;
  readonly eventId: string;
}

/** Changes with the form of the texts. */
const VERSION = 'e1';

const FORM = /^[^.]*\.[^.]*\.(\d+)\.(.*)$/s;

export function cursorText(key: CompositeSessionKey, { created, eventId }: EventPlace): string {
  const { appName, userId, sessionId } = key;
  const sum = checkSum(JSON.stringify([appName, userId, sessionId, created, eventId]));
  return `${VERSION}.${sum.toString(36)}.${created}.${eventId}`;
}

/**
 * Reads a cursor of this session.
 *
 * @param name the member of the request that holds it
 * @throws SessionError `invalid_argument` with that member as `key`
 */
export function readCursor(name: string, key: CompositeSessionKey, text: unknown): EventPlace {
  const [, created, eventId] = typeof text === 'string' ? (FORM.exec(text) ?? []) : [];
  if (created !== undefined && eventId !== undefined) {
    const place = { created: Number(created), eventId };
    if (cursorText(key, place) === text) return place;
  }
  throw foreignCursor(name, typeof text === 'string' ? 'another text' : kindOf(text));
}

/** The error of a cursor that is not of this session. */
export function foreignCursor(name: string, actual = 'of a deleted session or event'): Error {
  return invalid(
    name,
    `must be a cursor that this version of the package gave for this session; it is ${actual}`,
  );
}

/** FNV-1a, 32 bits. It tells cursors of another session and typing errors, and keeps nothing secret. */
function checkSum(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return sum >>> 0;
}
