import type { Call } from '../../core/call/call.js';
import type { Handles } from '../../core/handle/handle.js';
import type { TimedPlace } from '../../core/storage/list_place.js';
import { type CursorList, listCursor, readListCursor } from '../../core/storage/reads/cursors.js';
import { type Plan, runPlan, runPlanNow } from '../../core/storage/reads/read_plan.js';
import type {
  ListedSession,
  ListRequest,
  MemoryStore,
  ReadList,
  SharedStates,
} from '../../core/storage/store.js';
import { SessionError } from '../../values/errors/errors.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { optionalBoolean, optionalCount, requireOneOf } from '../../values/errors/option_values.js';
import { parseJson } from '../../values/json/parse.js';
import { pickMembers } from '../../values/json/pick_members.js';
import { isPlainObject } from '../../values/json/rules.js';
import { isWellFormed } from '../../values/json/text.js';
import { defineMember } from '../../values/members.js';
import { setDescription } from '../../values/model/description.js';
import type { Session } from '../../values/model/session.js';
import type {
  ListSessionsRequest,
  SessionsPage,
  SessionsRequest,
} from '../../values/model/session_list.js';
import { requireOwner } from '../../values/model/values/ids.js';
import { isTime } from '../../values/model/values/time.js';
import { APP_PREFIX, type SharedScope, USER_PREFIX } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { ReaderParts } from './reader_parts.js';
import { type SessionFilter, takeFilter } from './session_filter.js';

/** The most sessions that are read at once to look for those that a filter admits. */
const CHUNK = 1000;
/** If a read had too few sessions that the filter admits, the next one has this many times as many. */
const GROWTH = 4;

/** A plan of reads of lists. */
type ListPlan<Result> = Plan<ListRequest, ReadList, Result>;

/** The page of a request. */
interface RequestedPage extends Pick<ListRequest, 'offset' | 'limit' | 'withTotal'> {
  /** Counts from 1. */
  readonly number: number;
  readonly after: TimedPlace | undefined;
}

/** Lists sessions. */
export class SessionLists {
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** @param isWalk whether the page may have more sessions than its limit, if they were read in any case */
  async list<S extends object>(
    request: ListSessionsRequest,
    call: Call,
    isWalk = false,
  ): Promise<SessionsPage<S>> {
    const plan = this.#plan<S>(request, isWalk);
    return this.#parts.callStore(call, (store) =>
      runPlan(plan, (request) => store.list(request, call)),
    );
  }

  /** Lists sessions of memory at once. */
  listNow<S extends object>(
    request: ListSessionsRequest,
    call: Call,
    { sync }: MemoryStore,
  ): SessionsPage<S> {
    return runPlanNow(this.#plan<S>(request, false), (request) => sync.sessions(request, call));
  }

  /** Takes a request, and plans its reads. */
  #plan<S extends object>(
    request: ListSessionsRequest,
    isWalk: boolean,
  ): ListPlan<SessionsPage<S>> {
    const { appName } = request;
    const filter = takeFilter(request);
    const list = takeList(request, filter);
    const page = takePage(request, list, filter !== undefined);
    const { limit, withTotal } = page;
    const stateKeys = optionalKeys(request.stateKeys);
    const { handles } = this.#parts;
    return (function* (): ListPlan<SessionsPage<S>> {
      const read =
        filter === undefined
          ? yield* readPage(list, page)
          : yield* readFiltered(list, filter, limit, page.after);
      const { sessions: records, total: totalItems, shared } = read;
      const listed = isWalk ? records : records.slice(0, limit);
      const sessions = makeHandles<S>(listed, appName, shared, handles, stateKeys);
      const number = limit ? page.number : 1;
      const size = limit ?? (withTotal ? totalItems : sessions.length);
      const totalPages = size && Math.ceil(totalItems / size);
      // Without a filter, a walk gets more sessions than its limit only if it gets all that remain.
      const isFull = filter === undefined ? listed.length === limit : listed.length >= limit!;
      const last = limit && isFull ? listed.at(-1) : undefined;
      return {
        sessions,
        page: number,
        limit: size,
        ...(withTotal && { totalItems, totalPages }),
        ...(last && { nextCursor: listCursor(list, number, placeOf(last, list)) }),
      };
    })();
  }
}

function* readPage(
  { appName, userId, order, orderBy }: CursorList,
  page: Pick<ListRequest, 'offset' | 'limit' | 'withTotal' | 'after' | 'filters'>,
): ListPlan<ReadList> {
  const { offset, limit, withTotal, after, filters } = page;
  const list = { appName, userId, order, orderBy, offset, limit };
  return yield { ...list, withTotal, after, filters };
}

/** Reads sessions in the order of the list until there are enough that the filter admits. */
function* readFiltered(
  list: CursorList,
  { admits, title, labels }: SessionFilter,
  limit: number | undefined,
  start: TimedPlace | undefined,
): ListPlan<ReadList> {
  const filters = { title, labels };
  const sessions: ListedSession[] = [];
  const users = new Map<string, string>();
  let after = start;
  for (let size = limit; ; size! *= GROWTH) {
    const chunk = size && Math.min(size, CHUNK);
    const page = { offset: 0, limit: chunk, withTotal: false, after, filters };
    const { sessions: records, total, shared } = yield* readPage(list, page);
    sessions.push(...records.filter(({ title, labels }) => admits(title, labels)));
    for (const [userId, state] of shared.users) users.set(userId, state);
    const last = records.at(-1);
    const isEnough = limit === undefined || sessions.length >= limit;
    if (isEnough || last === undefined || records.length < chunk!) {
      return { sessions, total, shared: { app: shared.app, users } };
    }
    after = placeOf(last, list);
  }
}

/**
 * How far before the start of a walk its last pass begins, in milliseconds. An event may be older than its append, and
 * clocks differ, so a session may move to a time before the start.
 */
const LOOK_BACK = 10_000;

/**
 * Yields sessions. Each comes once, even if it moves in the list meanwhile. In a list by `lastUpdateTime` a session may
 * move to a place that the walk has passed. So the walk ends with a pass over the sessions that changed since its
 * start.
 */
export async function* walkSessions<S extends object>(
  { limit = 50, ...request }: SessionsRequest,
  list: (request: ListSessionsRequest) => Promise<SessionsPage<S>>,
  clock: () => number,
): AsyncGenerator<Session<S>, void, undefined> {
  if ((limit as unknown) === 0) throw invalid('limit', 'must be at least 1; it is 0');
  const yielded = new Set<string>();
  const canMove = request.orderBy !== 'createTime';
  let start = clock();
  let cursor: string | undefined;
  for (const order of canMove ? [request.order, 'asc' as const] : [request.order]) {
    do {
      const page = await list({ ...request, order, limit, cursor, withTotal: false });
      // The clocks of the writers may be behind this one.
      if (yielded.size === 0 && order === 'desc') {
        start = Math.min(start, page.sessions[0]?.lastUpdateTime ?? start);
      }
      // A server that repeats a cursor would make the loop endless.
      cursor = page.nextCursor === cursor ? undefined : page.nextCursor;
      for (const session of page.sessions) {
        const name = JSON.stringify([session.userId, session.id]);
        if (yielded.has(name)) continue;
        yielded.add(name);
        yield session;
      }
    } while (cursor !== undefined);
    const lastPass = takeList({ ...request, order: 'asc' }, takeFilter(request));
    const lastUpdateTime = Math.max(0, start - LOOK_BACK);
    cursor = listCursor(lastPass, 0, { lastUpdateTime, sessionId: '', userId: '' });
  }
}

function takeList(
  { appName, userId, order = 'asc', orderBy = 'lastUpdateTime' }: ListSessionsRequest,
  filter: SessionFilter | undefined,
): CursorList {
  requireOwner({ appName, userId });
  requireOneOf('order', order, ['asc', 'desc']);
  requireOneOf('orderBy', orderBy, ['lastUpdateTime', 'createTime']);
  return { appName, userId, order, orderBy, labels: filter?.labels, title: filter?.title };
}

/** Takes the page that a request asks for. */
function takePage(
  request: ListSessionsRequest,
  list: CursorList,
  isFiltered: boolean,
): RequestedPage {
  const { cursor } = request;
  const limit = optionalCount('limit', request.limit);
  const page = optionalCount('page', request.page, 1);
  const withTotal = optionalBoolean('withTotal', request.withTotal) ?? !isFiltered;
  const isLater = cursor !== undefined || isFiltered;
  const conflicting =
    (isLater && page !== undefined && 'page') || (isFiltered && withTotal && 'withTotal');
  if (conflicting) throw invalid(conflicting, 'cannot be given with this cursor or filter');
  const dependent = (page !== undefined && 'page') || (cursor !== undefined && 'cursor');
  if (limit === undefined && dependent) {
    throw invalid(dependent, 'needs a limit: the number of items on a page');
  }
  if (cursor === undefined) {
    const number = page ?? 1;
    const offset = Math.min((number - 1) * (limit ?? 0), Number.MAX_SAFE_INTEGER);
    return { offset, limit, withTotal, number, after: undefined };
  }
  const { page: lastPage, place } = readListCursor('cursor', list, cursor);
  return { offset: 0, limit, withTotal, number: lastPage + 1, after: place };
}

/** @throws SessionError `corrupt_record` if the time of the session is damaged */
function placeOf(listed: ListedSession, { appName, orderBy }: CursorList): TimedPlace {
  const { sessionId, userId, [orderBy]: time } = listed;
  if (!isTime(time)) throw corruptSession(listed, appName, 'it is damaged');
  return { [orderBy]: time, sessionId, userId };
}

function isStateKey(key: unknown): key is string {
  return typeof key === 'string' && isWellFormed(key);
}

/** Returns the keys as a set, or `undefined` if they are absent. */
function optionalKeys(keys: unknown): ReadonlySet<string> | undefined {
  if (keys === undefined) return undefined;
  if (Array.isArray(keys) && keys.every(isStateKey)) return new Set(keys);
  throw invalidValue('stateKeys', 'must be an array of well-formed strings', keys);
}

// Makes handles from listed sessions. A storage lists sessions without events, and the user and app
// states that they share only once. Each handle gets a merged state of its own here.

/**
 * The most values that copies of shared states may have in one list. More objects would exhaust an
 * engine's memory and end the page or process. A string counts as one value, since copies share it.
 */
const MAX_COPIED_VALUES = 2 ** 25;

/**
 * Makes handles from listed sessions.
 *
 * @param stateKeys the keys to put into the states; `undefined` for all
 * @throws SessionError `corrupt_record` naming the first record that cannot be read
 */
export function makeHandles<S extends object>(
  records: readonly ListedSession[],
  appName: string,
  { app: appState, users }: SharedStates,
  handles: Handles,
  stateKeys?: ReadonlySet<string>,
): Session<S>[] {
  const app = `app ${JSON.stringify(appName)}`;
  const appKeys = prefixedState(APP_PREFIX, appState, `state of ${app}`, stateKeys);
  const userKeys = new Map<string, StateShape>();
  for (const [userId, state] of users) {
    const record = `state of user ${JSON.stringify(userId)} in ${app}`;
    userKeys.set(userId, prefixedState(USER_PREFIX, state, record, stateKeys));
  }
  const copy = makeCopier();
  return records.map((record) => {
    const { userId, sessionId } = record;
    if (record.isDamaged) throw corruptSession(record, appName, 'it is damaged');
    // Vertex AI keeps the shared keys in the state of each session.
    const state = parseListedState(record, appName, stateKeys);
    const shared: Record<SharedScope, StateShape | undefined> = {
      user: userKeys.get(userId),
      app: appKeys,
    };
    for (const keys of Object.values(shared)) {
      for (const key of Object.keys(keys ?? {})) defineMember(state, key, copy(keys?.[key]));
    }
    const key = { appName, userId, sessionId };
    const handle = handles.open<S>(key, record, state as Partial<S>, [], { isWhole: false });
    return setDescription(handle, record);
  });
}

/** Parses the state of a user or an app, and puts the prefix before its keys. */
function prefixedState(
  prefix: string,
  text: string | undefined,
  record: string,
  stateKeys: ReadonlySet<string> | undefined,
): StateShape {
  const state = Object.create(null) as StateShape;
  if (text === undefined) return state;
  const prefixed = [...(stateKeys ?? [])].filter((key) => key.startsWith(prefix));
  const wanted = stateKeys && new Set(prefixed.map((key) => key.slice(prefix.length)));
  const stored = parseObject(text, wanted);
  if (stored instanceof SyntaxError) {
    const message = `The stored ${record} cannot be read: it is not the JSON of an object.`;
    throw new SessionError('corrupt_record', message, { record, cause: stored });
  }
  for (const key of Object.keys(stored)) state[prefix + key] = stored[key];
  return state;
}

/** Returns a function that copies JSON values, up to {@link MAX_COPIED_VALUES} values in all. */
function makeCopier(): (value: unknown) => unknown {
  let count = 0;
  return function copy(value: unknown): unknown {
    count += 1;
    if (count > MAX_COPIED_VALUES) {
      throw new SessionError(
        'quota_exceeded',
        'The sessions of this list share a state too large to copy for each; list fewer with `limit`.',
      );
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(copy);
    const copied: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      defineMember(copied, key, copy((value as Record<string, unknown>)[key]));
    }
    return copied;
  };
}

function parseListedState(
  record: ListedSession,
  appName: string,
  stateKeys: ReadonlySet<string> | undefined,
): StateShape {
  const state = parseObject(record.state, stateKeys);
  if (!(state instanceof SyntaxError)) return state;
  throw corruptSession(record, appName, 'its state is not the JSON of an object', state);
}

/** Parses the JSON text of an object, or only its wanted members. Returns the error if it cannot. */
function parseObject(
  text: string,
  wanted: ReadonlySet<string> | undefined,
): StateShape | SyntaxError {
  try {
    if (wanted !== undefined) return pickMembers(text, wanted);
    const value: unknown = parseJson(text);
    return isPlainObject(value) ? value : new SyntaxError('It is not an object.');
  } catch (error) {
    return error as SyntaxError;
  }
}

/** Makes the error for a listed session that cannot be read. */
function corruptSession(
  { userId, sessionId }: ListedSession,
  appName: string,
  reason: string,
  cause?: unknown,
): SessionError {
  const names = [sessionId, userId, appName].map((name) => JSON.stringify(name));
  const record = `session ${names[0]} of user ${names[1]} in app ${names[2]}`;
  const message = `The stored ${record} cannot be read: ${reason}.`;
  return new SessionError('corrupt_record', message, { record, cause });
}
