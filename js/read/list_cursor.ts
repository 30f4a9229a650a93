/**
 * The texts of cursors in lists of sessions: a version, a check sum of the list and the place, the
 * number of the page that ends there, and the place. The session may move or be deleted.
 */
import { invalid } from '../errors/invalid.js';
import { kindOf } from '../json/rules.js';
import { isTime } from '../model/snapshot.js';
import type { ListPlace } from '../storage/list_place.js';
import { checkSum } from './event_cursor.js';

/** A list of sessions. Only its own cursors are accepted. */
export interface SessionList {
  readonly appName: string;
  readonly userId: string | undefined;
  readonly order: 'asc' | 'desc';
  /** The labels and the title that the sessions must have, as texts. */
  readonly labels: string | undefined;
  readonly title: string | undefined;
}

/** The end of a page in a list. */
export interface PageBoundary extends ListPlace {
  /** The number of the page, from 1. */
  readonly page: number;
}

/** Changes with the form of the texts. */
const VERSION = 'l1';

export function listCursor(
  { appName, userId, order, labels, title }: SessionList,
  { page, lastUpdateTime, sessionId, userId: owner }: PageBoundary,
): string {
  const boundary = JSON.stringify([page, lastUpdateTime, sessionId, owner]);
  const sum = checkSum(JSON.stringify([appName, userId, order, labels, title]) + boundary);
  return `${VERSION}.${sum.toString(36)}.${boundary}`;
}

/**
 * Reads a cursor of this list.
 *
 * @throws SessionError `invalid_argument` with `cursor` as `key`
 */
export function readListCursor(list: SessionList, text: unknown): PageBoundary {
  if (typeof text === 'string') {
    try {
      const boundary = JSON.parse(text.slice(text.indexOf('['))) as unknown[];
      const [page, lastUpdateTime, sessionId, userId] = boundary;
      const isWhole = Number.isSafeInteger(page) && isTime(lastUpdateTime);
      if (isWhole && typeof sessionId === 'string' && typeof userId === 'string') {
        const read = { page: page as number, lastUpdateTime, sessionId, userId };
        if (listCursor(list, read) === text) return read;
      }
    } catch {
      // It is not JSON.
    }
  }
  throw invalid(
    'cursor',
    `must be a cursor that this version of the package gave for this list; it is ${typeof text === 'string' ? 'another text' : kindOf(text)}`,
  );
}
