/** Reads the local data: what the remote has said, with the mutations over it. */
import type { Call } from '../../../core/call/call.js';
import {
  eventsThrough,
  pageThrough,
  rowsSinceThrough,
  sessionThrough,
  stateThrough,
  listRequestOf,
  listThrough,
} from '../../../core/storage/driver/reads.js';
import { changedSession } from '../../../core/storage/changes.js';
import { sortList } from '../../../core/storage/list_place.js';
import type { StorageListRequest } from '../../../core/storage/requests.js';
import type { Listing, SessionRow, SharedRows } from '../../../core/storage/rows.js';
import type { Storage } from '../../../core/storage/storage.js';
import {
  type ReadResults,
  type ReadKind,
  type ReadVerbs,
  runRead,
  type SessionRead,
} from '../../../core/read.js';
import type { ListRequest, ReadList, StateRequest, Store } from '../../../core/storage/store.js';
import { readInfo } from '../../../core/storage/reads/session_info.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { EventCount } from '../../../values/model/values/read_options.js';
import { nameOf } from '../records/cache_key.js';
import type { Identity } from '../data/local_ids.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import type { LocalData } from '../data/local_data.js';
import { isAskedFor } from '../outbox/mutation.js';
import { isProvisional } from '../data/provisional_session.js';
import type { OverlaidSession } from '../overlay/session_overlay.js';
import { olderInvocations, OverlaidEvents } from './overlaid_events.js';

/** How much of a session is on this device. */
export interface LocalFacts {
  /** How many of the newest events the copy has, without the unsent. */
  readonly copiedCount: EventCount;
  /** Whether the session is provisional, and the remote has not been asked for it. */
  readonly isProvisional: boolean;
  /** Whether the session is provisional, and no mutation may create it at the remote. */
  readonly mustExist: boolean;
  /** Whether the deletion of the session waits. */
  readonly isDeleted: boolean;
  /** Whether the session has older events than the copy, or may have. */
  readonly hasOlder: boolean;
  /** Absent if there is no session. */
  readonly identity: Identity | undefined;
}

/** What was read of a session, and how much of the session it was read from. */
export interface LocalRead<T> {
  /** `undefined`: there is no session. */
  readonly result: T | undefined;
  readonly part: LocalFacts;
}

/** Reads something of a session in one transaction. */
export function readLocally<Kind extends ReadKind>(
  data: LocalData,
  request: SessionRead<Kind>,
  call: Call,
): Promise<LocalRead<ReadResults[Kind]>> {
  const { key } = request;
  return data.read(async (transaction) => {
    const view = await transaction.view(key);
    const isDeleted = view === undefined && (await transaction.copies.get(key)) !== undefined;
    const result = await runRead(verbsOf(transaction, key, view), request, call);
    return { result, part: { ...partOf(view), isDeleted } };
  });
}

function partOf(view: OverlaidSession | undefined): Omit<LocalFacts, 'isDeleted'> {
  const copy = view?.copy;
  const hasOlder = copy?.hasOlder === true;
  return {
    copiedCount: copiedCountOf(view),
    mustExist: isProvisional(view?.overlay.creation),
    isProvisional: isAskedFor(view?.overlay.creation),
    hasOlder,
    identity: view && { localId: view.localId, created: copy?.created ?? undefined },
  };
}

function copiedCountOf(view: OverlaidSession | undefined): EventCount {
  if (view === undefined) return 0;
  const { copy } = view;
  if (copy === undefined) return 'all';
  if (copy.isStale) return 0;
  return copy.hasOlder ? copy.next - copy.first : 'all';
}

function verbsOf(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: OverlaidSession | undefined,
): ReadVerbs {
  const rows = rowsOf(transaction, key, view);
  const verbs: ReadVerbs = {
    async window(request, call) {
      const session = await sessionThrough(rows, request, call);
      if (session === undefined || view?.copy?.hasOlder !== true) return session;
      const { last, after } = request;
      const isCut = typeof last === 'number' && session.events.length >= last;
      if (isCut || after !== undefined) return session;
      return { ...session, olderInvocations: olderInvocations(session.events, view) };
    },
    page: (request, call) => pageThrough(rows, request, call),
    ids: (request, call) => eventsThrough(rows, request, call),
    since: async (request, call) => {
      const session = await rowsSinceThrough(rows, request, call);
      return session && changedSession(session, request);
    },
  };
  // It is counted page by page.
  const read: Store['read'] = (request, call) => runRead(verbs, request, call);
  return { ...verbs, info: (request, call) => readInfo({ read }, request, call) };
}

/** Returns the rows of a session as a reader sees it. */
function rowsOf(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: OverlaidSession | undefined,
): Required<Pick<Storage, 'read' | 'readPage' | 'readEvents'>> {
  if (view === undefined) {
    return {
      read: async () => ({ ...(await statesOf(transaction, key)), events: [] }),
      readPage: () => ({}),
      readEvents: () => ({ events: [] }),
    };
  }
  const session = rowOf(key, view);
  const shown = new OverlaidEvents(transaction, key, view);
  return {
    async read({ window }) {
      const { since, last } = window;
      const [states, events] = await Promise.all([
        statesOf(transaction, key),
        since === undefined ? shown.last(window) : shown.changedAfter(since),
      ]);
      return { session, ...states, events: since === undefined ? events : events.slice(0, last) };
    },
    async readPage({ direction, eventId, limit, withCount }) {
      const isForward = direction === 'after';
      const events = await shown.page(isForward, eventId, limit);
      const isCounted = withCount !== false && view.copy?.hasOlder !== true;
      return { session, events, eventCount: isCounted ? await shown.count() : undefined };
    },
    async readEvents({ eventIds }) {
      return { session, events: await shown.withIds(eventIds) };
    },
  };
}

async function statesOf(
  transaction: CacheTransaction,
  { appName, userId }: StateOwner,
): Promise<SharedRows> {
  const [user, app] = await Promise.all([
    userId === undefined ? undefined : transaction.states.shown({ appName, userId }),
    transaction.states.shown({ appName }),
  ]);
  return { user, app };
}

/** Reads the state of a user or an app. */
export function readState(data: LocalData, request: StateRequest, call: Call): Promise<string> {
  return data.read((transaction) => {
    const read = async () => ({ ...(await statesOf(transaction, request)), events: [] });
    return stateThrough({ read }, request, call);
  });
}

/** Lists the sessions that are here. */
export function readList(data: LocalData, request: ListRequest, call: Call): Promise<ReadList> {
  return data.read((transaction) => {
    const list = (part: StorageListRequest) => listOf(transaction, part);
    return listThrough({ listsParts: true, list }, listRequestOf(request), call);
  });
}

async function listOf(
  transaction: CacheTransaction,
  request: StorageListRequest,
): Promise<Listing> {
  const { appName, userId, offset, limit } = request;
  const below = { appName, userId };
  const records = await transaction.copies.list(below);
  const waiting = await transaction.outbox.below(below);
  const rows: SessionRow[] = [];
  for (const [key, record] of records) {
    const deletions = await transaction.states.userDeletions(key);
    const view = transaction.viewWith(key, record, waiting.get(nameOf(key)) ?? [], deletions);
    if (view !== undefined) rows.push(rowOf(key, view));
  }
  const sorted = sortList(rows, request);
  const sessions = sorted.slice(offset, limit === undefined ? undefined : offset + limit);
  const users: Listing['users'][number][] = [];
  for (const userId of new Set(sessions.map(({ userId }) => userId))) {
    const state = await transaction.states.shown({ appName, userId });
    if (state !== undefined) users.push({ userId, ...state });
  }
  const app = await transaction.states.shown({ appName });
  return { sessions, users, app, total: rows.length };
}

/** Returns the row of a session as a reader sees it. */
export function rowOf(key: CompositeSessionKey, view: OverlaidSession): SessionRow {
  const { appName, userId, sessionId } = key;
  const { localId: created, revision, lastUpdateTime, state } = view;
  const { title, labels, parent, createTime, initialState } = view;
  return {
    appName,
    userId,
    sessionId,
    created,
    revision,
    lastUpdateTime,
    state,
    createTime,
    initialState,
    ...(title !== '' && { title }),
    ...(labels !== '' && { labels }),
    ...(parent !== undefined && { parent }),
  };
}
