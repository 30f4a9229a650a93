import { SessionError } from '../../errors/errors.js';
import { untilAborted } from '../../call/time_limit.js';
import type { StorageCall } from '../../model/diagnostic.js';
import type { ListedSession, ReadList } from '../backend.js';
import {
  checkedSession,
  checkedShared,
  optionalShared,
  requireArray,
  requireCounter,
  requireObject,
  requireString,
} from '../checked_rows.js';
import { sortList } from '../list_place.js';
import type { StorageListPartRequest } from '../requests.js';
import type { Listing } from '../rows.js';
import type { Storage } from '../storage.js';
import { requestOf, settled } from './storage_calls.js';

/**
 * Lists sessions through a storage, and checks its result. A storage without `listPart` lists all sessions, and this
 * function cuts the part from them. A page by `lastUpdateTime` that is not after a place is listed by `list`.
 */
export function listThrough(
  storage: Storage,
  part: StorageListPartRequest,
  call: StorageCall,
): Promise<ReadList> {
  const { offset, limit, after, orderBy, ...others } = part;
  const isPage = orderBy === undefined && after === undefined;
  const hasVerb = !isPage && storage.listPart !== undefined;
  const verb = hasVerb ? 'listPart' : 'list';
  return settled(verb, call.signal, async () => {
    const listing = (async () => {
      if (hasVerb) return storage.listPart(requestOf(part, call));
      return storage.list(requestOf(isPage ? part : { ...others, offset: 0 }, call));
    })();
    const listed = checked(verb, await untilAborted(call.signal, listing), part.withTotal);
    if (isPage || hasVerb) return listed;
    if (
      orderBy === 'createTime' &&
      listed.sessions.some(({ createTime }) => createTime === undefined)
    ) {
      throw new SessionError(
        'unsupported',
        'The storage cannot list by createTime: it does not return the createTime of every session.',
        { key: 'orderBy' },
      );
    }
    const sorted = sortList(listed.sessions, part);
    // What was read after a place is all returned, so that a walk need not read it again.
    const end = limit === undefined || after !== undefined ? undefined : offset + limit;
    return { ...listed, sessions: sorted.slice(offset, end) };
  });
}

function checked(verb: string, listing: Listing, withTotal = true): ReadList {
  requireObject(verb, 'a result', listing);
  const rows = requireArray(verb, 'sessions', listing.sessions);
  const sessions = rows.map((row, index): ListedSession => {
    const path = `sessions[${index}]`;
    // First, since it checks that there is a row.
    const session = checkedSession(verb, path, row);
    const sessionId = requireString(verb, path, 'sessionId', row.sessionId);
    const userId = requireString(verb, path, 'userId', row.userId);
    return { sessionId, userId, ...session, isDamaged: false };
  });
  const users = new Map<string, string>();
  for (const [index, row] of requireArray(verb, 'users', listing.users).entries()) {
    const path = `users[${index}]`;
    const { state } = checkedShared(verb, path, row);
    users.set(requireString(verb, path, 'userId', row.userId), state);
  }
  const app = optionalShared(verb, 'app', listing)?.state;
  const total = withTotal ? requireCounter(verb, '', 'total', listing.total) : 0;
  return { sessions, shared: { app, users }, total };
}
