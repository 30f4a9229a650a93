import { after as whenRead, type MaybePromise } from '../call/call.js';
import { invalid, invalidValue } from '../errors/invalid.js';
import { optionalCount, optionalNumber, requireId } from '../model/ids.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { Session } from '../model/session.js';
import type {
  ListSessionsPageRequest,
  SessionsPage,
  SessionsRequest,
} from '../model/session_list.js';
import { isTime } from '../model/snapshot.js';
import type { ListPlace } from '../storage/list_place.js';
import type { PageRequest, ReadPage } from '../storage/session_store.js';
import { type CursorKind, cursorText, readPlace } from './cursor.js';
import { makeHandles, toRecord } from './listed_records.js';
import { type SessionFilter, takeFilter } from './session_filter.js';
import type { ReaderParts } from './session_reader.js';

/** The sessions that are read at once to look for those that a filter admits. */
const CHUNK = 1000;

/** A place is the number of the page that ends there, and the session's time, id and user. */
const CURSOR: CursorKind = {
  version: 'l1',
  owner: 'list',
  isPlace: ([page, time, sessionId, userId]) =>
    Number.isSafeInteger(page) &&
    isTime(time) &&
    typeof sessionId === 'string' &&
    typeof userId === 'string',
};

/** A list of sessions. Only its own cursors are accepted. The last two are what the sessions must have, as texts. */
type SessionList = readonly [
  appName: string,
  userId: string | undefined,
  order: 'asc' | 'desc',
  labels: string | undefined,
  title: string | undefined,
];

/** The place of a cursor, see {@link CURSOR}. */
type Boundary = [page: number, lastUpdateTime: number, sessionId: string, userId: string];

/** Lists sessions. */
export class SessionLists {
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** @param isWalk whether the page may have more sessions than its limit, if they were read in any case */
  list<S extends object>(
    request: ListSessionsPageRequest & StorageCall,
    isWalk = false,
  ): MaybePromise<SessionsPage<S>> {
    const { appName } = request;
    const filter = takeFilter(request);
    const list = takeList(request, filter);
    const limit = optionalCount('limit', request.limit);
    const offset = optionalNumber('offset', request.offset);
    const page = optionalNumber('page', request.page);
    const { cursor } = request;
    const [lastPage = 0, lastUpdateTime, sessionId, userId] = (
      cursor === undefined ? [] : readPlace('cursor', CURSOR, list, cursor)
    ) as Partial<Boundary>;
    const after = cursor ? ({ lastUpdateTime, sessionId, userId } as ListPlace) : undefined;
    if (cursor !== undefined && limit === undefined) throw invalid('cursor', 'needs a limit');
    const withTotal: unknown = request.withTotal ?? filter === undefined;
    if (typeof withTotal !== 'boolean') {
      throw invalidValue('withTotal', 'must be a boolean', withTotal);
    }
    const isLater = cursor !== undefined || filter !== undefined;
    const barred =
      (isLater && page !== undefined && 'page') ||
      (isLater && offset !== undefined && 'offset') ||
      (filter !== undefined && withTotal && 'withTotal');
    if (barred) throw invalid(barred, 'cannot be given with this cursor or filter');
    const stateKeys = optionalKeys(request.stateKeys);
    const read =
      filter === undefined
        ? this.#read(list, { limit, offset, page, withTotal, after }, request)
        : this.#readFiltered(list, filter, limit, after, request);
    return whenRead(read, ([records, corePage, coreLimit, totalItems, totalPages, shared]) => {
      const listed = isWalk ? records : records.slice(0, limit);
      const sessions = makeHandles<S>(listed, appName, shared, this.#parts.handles, stateKeys);
      // The core counts only up to 2^32 - 1, and a request may ask for more.
      const before = limit ? Math.floor((offset ?? 0) / limit) + lastPage : 0;
      const number = limit ? (page ?? before + 1) : corePage;
      const size = limit ?? (withTotal ? coreLimit : sessions.length);
      const last = limit && sessions.length >= limit ? sessions.at(-1) : undefined;
      return {
        sessions,
        page: number,
        limit: size,
        ...(withTotal && { totalItems, totalPages }),
        ...(last && { nextCursor: listCursor(list, number, placeOf(last)) }),
      };
    });
  }

  #read(
    [appName, userId, order]: SessionList,
    page: PageRequest,
    call: StorageCall,
  ): MaybePromise<ReadPage> {
    return this.#parts.call(call.signal, (store) =>
      store.list(appName, userId, order === 'desc', page, call),
    );
  }

  /** Reads sessions in the order of the list until there are enough that the filter admits. */
  #readFiltered(
    list: SessionList,
    { admits }: SessionFilter,
    limit: number | undefined,
    after: ListPlace | undefined,
    call: StorageCall,
  ): MaybePromise<ReadPage> {
    const chunk = limit === undefined ? undefined : CHUNK;
    const page = { limit: chunk, offset: undefined, page: undefined, withTotal: false, after };
    return whenRead(this.#read(list, page, call), (read) => {
      const [records, number, items, total, pages, shared] = read;
      const admitted = records.filter((listed) => {
        const { title, labels } = toRecord(listed);
        return admits(title, labels);
      });
      const last = records.at(-1);
      const missing = limit === undefined ? 0 : limit - admitted.length;
      if (missing <= 0 || last === undefined || records.length < CHUNK) {
        return [admitted, number, items, total, pages, shared];
      }
      const { lastUpdateTime, sessionId, userId } = toRecord(last);
      const place = { lastUpdateTime: Number(lastUpdateTime), sessionId, userId };
      const rest = this.#readFiltered(list, { admits }, missing, place, call);
      return whenRead(rest, ([others, , , , , [, ...users]]) => {
        return [[...admitted, ...others], number, items, total, pages, [...shared, ...users]];
      });
    });
  }
}

/**
 * How far before a descending walk its last pass begins, in milliseconds. An event is made some time before
 * its append, and clocks differ, so a session may move to a time before the walk.
 */
const LOOK_BACK = 10_000;

/**
 * Goes through sessions. Each comes once, also if it moves in the list meanwhile. In ascending order it moves
 * to places that are yet to come. A walk in descending order ends with a pass over what moved behind it.
 */
export async function* walkSessions<S extends object>(
  { limit = 50, ...request }: SessionsRequest,
  list: (request: ListSessionsPageRequest) => Promise<SessionsPage<S>>,
): AsyncGenerator<Session<S>, void, undefined> {
  if ((limit as unknown) === 0) throw invalid('limit', 'must be at least 1; it is 0');
  const given = new Set<string>();
  let start: string | undefined;
  for (const order of request.order === 'desc' ? (['desc', 'asc'] as const) : [request.order]) {
    let cursor = start;
    do {
      const page = await list({ ...request, order, limit, cursor, withTotal: false });
      const [first] = page.sessions;
      if (start === undefined && first !== undefined) {
        const list = takeList({ ...request, order: 'asc' }, takeFilter(request));
        const lastUpdateTime = Math.max(0, first.lastUpdateTime - LOOK_BACK);
        start = listCursor(list, 0, { lastUpdateTime, sessionId: '', userId: '' });
      }
      cursor = page.nextCursor;
      for (const session of page.sessions) {
        const name = JSON.stringify([session.userId, session.id]);
        if (given.has(name)) continue;
        given.add(name);
        yield session;
      }
    } while (cursor !== undefined);
  }
}

function listCursor(list: SessionList, page: number, place: ListPlace): string {
  const { lastUpdateTime, sessionId, userId } = place;
  return cursorText(CURSOR, list, [page, lastUpdateTime, sessionId, userId]);
}

function takeList(
  { appName, userId, order = 'asc' }: ListSessionsPageRequest,
  filter: SessionFilter | undefined,
): SessionList {
  requireId('appName', appName);
  if (userId !== undefined) requireId('userId', userId);
  if (order !== 'asc' && order !== 'desc') {
    throw invalidValue('order', `must be 'asc' or 'desc'`, order);
  }
  return [appName, userId, order, filter?.labels, filter?.title];
}

function placeOf({ lastUpdateTime, id, userId }: Session): ListPlace {
  return { lastUpdateTime, sessionId: id, userId };
}

/** Returns the keys as a set, or `undefined` if they are absent. */
function optionalKeys(keys: unknown): ReadonlySet<string> | undefined {
  if (keys === undefined) return undefined;
  if (Array.isArray(keys) && keys.every((key) => typeof key === 'string')) return new Set(keys);
  throw invalidValue('stateKeys', 'must be an array of strings', keys);
}
