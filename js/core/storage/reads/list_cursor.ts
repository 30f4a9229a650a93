import type { CursorKind } from '../../../values/json/cursor.js';
import { isTime } from '../../../values/model/values/time.js';

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
