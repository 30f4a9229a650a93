import { SessionError } from '../../errors/errors.js';
import { untilAborted } from '../../call/time_limit.js';
import type { StorageCall } from '../../model/diagnostic.js';
import type { StorageAdapter } from '../adapter.js';
import { requestOf, settled } from './adapter_calls.js';
import {
  checkedSession,
  checkedShared,
  optionalShared,
  requireArray,
  requireCounter,
  requireObject,
  requireString,
} from '../checked_rows.js';
import { type ListPlace, sortList } from '../list_place.js';
import type { BuiltInListRequest } from '../built_in_adapter.js';
import type { Listing } from '../rows.js';
import type { ListedSession, SharedStates } from '../session_store.js';

/** Sessions that an adapter listed. */
interface Listed {
  readonly sessions: ListedSession[];
  readonly shared: SharedStates;
  readonly total: number;
}

/**
 * Lists sessions through an adapter, and checks its result. An adapter of this package lists any page. A user's has
 * `listAfter` for a page after a place. If it lacks the verb, or if the order is by `createTime`, it lists all
 * sessions, and this function cuts the page from them.
 */
export function listThrough(
  adapter: StorageAdapter,
  request: BuiltInListRequest,
  isBuiltIn: boolean,
  call: StorageCall,
): Promise<Listed> {
  const { offset, limit, after, orderBy, ...others } = request;
  const isOrdered = isBuiltIn || orderBy === undefined;
  const isAfter = !isBuiltIn && after !== undefined;
  const hasVerb = isOrdered && isAfter && adapter.listAfter !== undefined;
  const isPage = hasVerb || (isOrdered && !isAfter);
  const verb = hasVerb ? 'listAfter' : 'list';
  return settled(verb, call.signal, async () => {
    let listing: Listing | Promise<Listing>;
    if (hasVerb) {
      const place = after as ListPlace;
      listing = adapter.listAfter!(requestOf({ ...others, after: place, limit: limit! }, call));
    } else {
      listing = adapter.list(requestOf(isPage ? request : { ...others, offset: 0 }, call));
    }
    const listed = checked(verb, await untilAborted(call.signal, listing), request.withTotal);
    if (isPage) return listed;
    if (!isOrdered && listed.sessions.some(({ createTime }) => createTime === undefined)) {
      throw new SessionError(
        'unsupported',
        'The storage cannot list by createTime: its adapter does not return the createTime of every session.',
        { key: 'orderBy' },
      );
    }
    const sorted = sortList(listed.sessions, request);
    // What was read after a place is all returned, so that a walk need not read it again.
    const end = limit === undefined || after !== undefined ? undefined : offset + limit;
    return { ...listed, sessions: sorted.slice(offset, end) };
  });
}

function checked(verb: string, listing: Listing, withTotal = true): Listed {
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
  const users = requireArray(verb, 'users', listing.users).flatMap((row, index) => {
    const path = `users[${index}]`;
    const { state } = checkedShared(verb, path, row);
    return [requireString(verb, path, 'userId', row.userId), state];
  });
  const app = optionalShared(verb, 'app', listing)?.state;
  const total = withTotal ? requireCounter(verb, '', 'total', listing.total) : 0;
  return { sessions, shared: [app, ...users], total };
}
