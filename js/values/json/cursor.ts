/**
 * The texts of cursors: a version, a checksum of the owner and the place, and the place as JSON. The owner is the
 * session or the list that the cursor belongs to.
 */
import { invalid } from '../errors/invalid.js';
import { kindOf } from '../errors/describe.js';
import { parseJson } from './parse.js';

/** A kind of cursor. */
export interface CursorKind {
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
