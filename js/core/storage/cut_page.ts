import type { StoragePageRequest } from './requests.js';
import type { EventRow, PageRows } from './rows.js';
import type { Storage } from './storage.js';

/** Which rows of a session are a page. */
export type PageCut = Pick<StoragePageRequest, 'direction' | 'eventId' | 'limit'>;

/** The limit of a page that goes on to the end of the session. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER - 1;

/**
 * Cuts a page out of rows.
 *
 * @param rows ordered by `seq`
 * @returns `undefined` if no row has the id `eventId`
 */
export function cutPage(
  rows: readonly EventRow[],
  { direction, eventId, limit }: PageCut,
): readonly EventRow[] | undefined {
  const isForward = direction === 'after';
  const found = rows.findIndex(({ id }) => id === eventId);
  if (eventId !== undefined && found < 0) return undefined;
  if (isForward) return rows.slice(found + 1, found + 1 + limit);
  const end = eventId === undefined ? rows.length : found;
  return rows.slice(Math.max(0, end - limit), end);
}

/** Reads a page through a storage without `readPage`: reads the whole session. */
export async function readAndCut(
  storage: Pick<Storage, 'read'>,
  request: StoragePageRequest,
): Promise<PageRows> {
  const { key, signal } = request;
  const { session, events } = await storage.read({ key, window: {}, signal });
  return { session, events: cutPage(events, request), eventCount: events.length };
}
