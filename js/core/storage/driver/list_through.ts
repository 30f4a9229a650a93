import { SessionError } from '../../../values/errors/errors.js';
import type { Call } from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import type { ListRequest, ReadList } from '../store.js';
import { sortList } from '../list_place.js';
import type { StorageListRequest } from '../requests.js';
import type { Listing } from '../rows.js';
import type { Storage } from '../storage.js';
import { requestOf, settled } from './storage_calls.js';

/** Lists sessions through a storage. Cuts the part if the storage returns all sessions. */
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
    if (listsParts) return listed(listing);
    const { sessions, shared } = listed(listing);
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

function listed({ sessions, users, app, total = 0 }: Listing): ReadList {
  return {
    sessions: sessions.map((row) => ({ ...row, isDamaged: false })),
    shared: { app: app?.state, users: new Map(users.map(({ userId, state }) => [userId, state])) },
    total,
  };
}
