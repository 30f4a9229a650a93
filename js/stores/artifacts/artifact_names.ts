/**
 * Which names files may have, and whose they are. One rule for all homes: a name that google-adk's folder refuses is
 * refused, and so is one that would be another name's file there.
 */
import { invalidValue } from '../../values/errors/invalid.js';
import { fitsUtf8, isWellFormed } from '../../values/json/text.js';
import type { ArtifactRequest } from '../../values/model/artifact.js';
import { requireKey } from '../../values/model/values/ids.js';

/** Whose a file is: a session's, or without `sessionId` a user's. */
export interface FileOwner {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string | undefined;
}

/** A file of an owner. */
export interface FilePlace {
  readonly owner: FileOwner;
  /** Without `user:`. */
  readonly name: string;
}

const USER_PREFIX = 'user:';

/** The session in a request for a file of a user, where the request must have one: any names the file. */
export const ANY_SESSION = 'user-files';

/** The most bytes of UTF-8 in a name: a file system takes so many in the name of a file. */
const MAX_NAME_BYTES = 255;

const RULE =
  `must be a path of at most ${MAX_NAME_BYTES} bytes such as "a/chart.png", after an optional "user:". ` +
  'Not allowed are "\\", control characters, a drive, an empty part, ".", "..", a part "versions", a last part "metadata.json", and blanks at its ends';

/** @throws SessionError `invalid_argument` for the key or the name */
export function placeOf(request: ArtifactRequest): FilePlace {
  requireKey(request);
  const { appName, userId, sessionId, filename } = request;
  const isOfUser = typeof filename === 'string' && filename.startsWith(USER_PREFIX);
  const name = isOfUser ? filename.slice(USER_PREFIX.length) : filename;
  if (!isFileName(name)) throw invalidValue('filename', RULE, filename);
  return { owner: { appName, userId, sessionId: isOfUser ? undefined : sessionId }, name };
}

/** Returns the name of a file as callers know it. */
export function filenameOf({ sessionId }: FileOwner, name: string): string {
  return sessionId === undefined ? USER_PREFIX + name : name;
}

/** Returns whether a file may have a name, which is given without `user:`. */
export function isFileName(name: unknown): name is string {
  if (typeof name !== 'string' || !isWellFormed(name) || !fitsUtf8(name, MAX_NAME_BYTES)) {
    return false;
  }
  if (/[\\\p{Cc}]|^[a-z]:/iu.test(name) || name.trim() !== name) return false;
  const parts = name.split('/').map((part) => part.replace(/[ .]+$/, '').toLowerCase());
  // An empty one was empty, or only dots and blanks: Windows would take them for another part.
  if (parts.includes('') || parts.includes('versions')) return false;
  return parts.at(-1) !== 'metadata.json';
}
