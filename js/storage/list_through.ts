import { memberOf, ownMembers } from '../members/own.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { StorageAdapter, StorageListRequest } from './adapter.js';
import { requestOf, settled, untilAborted } from './adapter_calls.js';
import {
  optionalTuple,
  requireArray,
  requireCounter,
  requireObject,
  requireString,
  sessionTuple,
  sharedTuple,
} from './checked_rows.js';
import { comparePlaces, type ListPlace } from './list_place.js';
import type { Listing } from './rows.js';
import type { ListedTuple, SharedStates } from './session_store.js';

/** Sessions that an adapter listed. */
interface Listed {
  readonly sessions: ListedTuple[];
  readonly shared: SharedStates;
  readonly total: number;
}

/**
 * Lists sessions through an adapter, and checks its result. Without `listAfter`, the adapter lists all
 * sessions, and the result has all those after the place.
 */
export function listThrough(
  adapter: StorageAdapter,
  request: StorageListRequest,
  after: ListPlace | undefined,
  call: StorageCall,
): Promise<Listed> {
  const { offset, limit, ...others } = ownMembers(request);
  const list = ownMembers(others);
  const { signal } = call;
  const hasVerb = after !== undefined && memberOf(adapter, 'listAfter') !== undefined;
  const verb = hasVerb ? 'listAfter' : 'list';
  return settled(verb, signal, async () => {
    let listing: Listing | Promise<Listing>;
    if (after === undefined) {
      const page = { ...list, offset, ...(limit !== undefined && { limit }) };
      listing = adapter.list(requestOf(page, call));
    } else if (hasVerb) {
      listing = adapter.listAfter!(requestOf({ ...list, after, limit: limit! }, call));
    } else {
      listing = adapter.list(requestOf({ ...list, offset: 0 }, call));
    }
    const listed = checked(verb, await untilAborted(signal, listing), list.withTotal);
    if (after === undefined || hasVerb) return listed;
    const isAfter = ([sessionId, userId, , , lastUpdateTime]: ListedTuple): boolean =>
      comparePlaces(list.order, { sessionId, userId, lastUpdateTime }, after) > 0;
    return { ...listed, sessions: listed.sessions.filter(isAfter) };
  });
}

function checked(verb: string, listing: Listing, withTotal = true): Listed {
  requireObject(verb, 'a result', listing);
  const rows = requireArray(verb, 'sessions', listing.sessions);
  const sessions = rows.map((row, index): ListedTuple => {
    const path = `sessions[${index}]`;
    // First, since it checks that there is a row.
    const [created, revision, time, state, title, labels] = sessionTuple(verb, path, row);
    const sessionId = requireString(verb, path, 'sessionId', row.sessionId);
    const userId = requireString(verb, path, 'userId', row.userId);
    return [sessionId, userId, created, revision, time, state, title, labels];
  });
  const users = requireArray(verb, 'users', listing.users).flatMap((row, index) => {
    const path = `users[${index}]`;
    const [, state] = sharedTuple(verb, path, row);
    return [requireString(verb, path, 'userId', row.userId), state];
  });
  const app = optionalTuple(memberOf(listing, 'app'), (row) => sharedTuple(verb, 'app', row)[1]);
  const total = withTotal ? requireCounter(verb, '', 'total', listing.total) : 0;
  return { sessions, shared: [app, ...users], total };
}
