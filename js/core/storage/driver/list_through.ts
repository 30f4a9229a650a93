import { SessionError } from '../../../values/errors/errors.js';
import type { Call } from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import type { ListedSession, ListRequest, ReadList } from '../store.js';
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
import type { StorageListRequest } from '../requests.js';
import type { Listing } from '../rows.js';
import type { Storage } from '../storage.js';
import { requestOf, settled } from './storage_calls.js';

/** Lists sessions through a storage, and checks its result. Cuts the part if the storage returns all sessions. */
export function listThrough(
  storage: Pick<Storage, 'list' | 'listsParts'>,
  part: StorageListRequest,
  call: Call,
): Promise<ReadList> {
  const { appName, userId, order, offset, limit, after, orderBy } = part;
  const { listsParts = false } = storage;
  const whole = { appName, ...(userId !== undefined && { userId }), order, offset: 0 };
  return settled('list', call, async () => {
    const request = requestOf(listsParts ? part : whole, call);
    const listing = await untilAborted(call.signal, (async () => storage.list(request))());
    if (listsParts) return checked(listing, part.withTotal);
    const { sessions, shared } = checked(listing, false);
    if (orderBy === 'createTime' && sessions.some(({ createTime }) => createTime === undefined)) {
      throw new SessionError(
        'unsupported',
        'The storage cannot list by createTime: it does not return the createTime of every session.',
        { key: 'orderBy' },
      );
    }
    // What was read after a place is all returned, so that a walk need not read it again.
    const end = limit === undefined || after !== undefined ? undefined : offset + limit;
    const cut = sortList(sessions, part).slice(offset, end);
    return { sessions: cut, shared, total: sessions.length };
  });
}

/** Returns the request to a storage that lists parts. */
export function listRequestOf(request: ListRequest): StorageListRequest {
  const { appName, userId, order, orderBy, offset, limit, withTotal, after } = request;
  return {
    appName,
    ...(userId !== undefined && { userId }),
    order,
    offset,
    ...(limit !== undefined && { limit }),
    ...(!withTotal && { withTotal }),
    ...(orderBy === 'createTime' && { orderBy }),
    ...(after !== undefined && { after }),
  };
}

function checked(listing: Listing, withTotal = true): ReadList {
  const verb = 'list';
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
