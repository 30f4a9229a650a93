/** Reads sessions, lists and pages of events through a storage. */
import { SessionError } from '../../../values/errors/errors.js';
import { withoutIdempotencyKey } from '../../../values/model/event/metadata.js';
import type { StoredEvents } from '../../../values/model/event_page.js';
import type { Call } from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import type {
  SinceRequest,
  IdsRequest,
  MarkersRequest,
  PageRequest,
  ReadMarkers,
  ReadPage,
  WindowRequest,
  ReadSession,
} from '../../read.js';
import { mergeStates } from '../../wasm/core.js';
import { MOST_CHANGED } from '../../wasm/protocol.js';
import { type RowsSince, storedEvents } from '../changes.js';
import { NO_LIMIT, readAndCut } from '../cut_page.js';
import { sortList } from '../list_place.js';
import type {
  StorageListRequest,
  StorageEventsRequest,
  StorageMarkersRequest,
  StoragePageRequest,
  StorageReadRequest,
} from '../requests.js';
import type { Listing, FoundEvents, MarkerRows, PageRows, Rows } from '../rows.js';
import { storageKey } from '../scopes.js';
import type { Storage } from '../storage.js';
import type { ListRequest, ReadList, StateRequest, OwnStorage, ParsedRows } from '../store.js';
import { parseRows } from '../stored_events.js';
import { requestOf, runVerb } from './storage_calls.js';

/** Lists sessions through a storage. Cuts the part if the storage returns all sessions. */
export function listThrough(
  storage: Pick<Storage, 'list' | 'listsParts'>,
  part: StorageListRequest,
  call: Call,
): Promise<ReadList> {
  const { appName, userId, order, offset, limit, after, orderBy } = part;
  const { listsParts = false } = storage;
  const whole = { appName, ...(userId !== undefined && { userId }), order, offset: 0 };
  return runVerb('list', call, async () => {
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

type WindowRead = Pick<StorageReadRequest, 'key' | 'window'>;

/** Reads a session with a window of its events, or the state of a user or an app. */
export function readThrough(storage: Pick<Storage, 'read'>, read: WindowRead, call: Call) {
  const request: StorageReadRequest = requestOf(read, call);
  return runVerb('read', call, () =>
    untilAborted<Rows>(call.signal, (async () => storage.read(request))()),
  );
}

/** Reads the same with parsed events. Returns `undefined` if the storage cannot do that. */
async function readParsedThrough(
  storage: Pick<OwnStorage, 'readParsed'>,
  read: WindowRead,
  call: Call,
) {
  if (storage.readParsed === undefined) return undefined;
  const request: StorageReadRequest = requestOf(read, call);
  return runVerb('readParsed', call, async () => {
    const reading = (async () => storage.readParsed!(request))();
    return untilAborted<ParsedRows | undefined>(call.signal, reading);
  });
}

/** The rows of a read beside its events. */
type StateRows = Omit<Rows, 'events'>;

/** Reads a session with a window of its events. */
export async function sessionThrough(
  storage: Pick<OwnStorage, 'read' | 'readParsed'>,
  { key, last, after, skipCorrupt = false }: WindowRequest,
  call: Call,
): Promise<ReadSession | undefined> {
  const window = {
    ...(typeof last === 'number' && { last }),
    ...(after !== undefined && { after }),
  };
  const read = { key, window };
  const parsed = await readParsedThrough(storage, read, call);
  if (parsed !== undefined) return sessionOf(key, parsed, parsed.events.map(withoutIdempotencyKey));
  const { events, ...rows } = await readThrough(storage, read, call);
  return rows.session && sessionOf(key, rows, parseRows(events, key.sessionId, skipCorrupt));
}

/** Reads a session with the rows of the events that have changed. */
export async function rowsSinceThrough(
  storage: Pick<Storage, 'read'>,
  { key, since }: SinceRequest,
  call: Call,
): Promise<RowsSince | undefined> {
  const rows = await readThrough(storage, { key, window: { since, last: MOST_CHANGED } }, call);
  return sessionOf(key, rows, rows.events);
}

/** Reads the state of a user or an app. */
export async function stateThrough(
  storage: Pick<Storage, 'read'>,
  request: StateRequest,
  call: Call,
): Promise<string> {
  const { scope } = request;
  const read = { key: storageKey(request), window: { last: 0 } };
  const rows = await readThrough(storage, read, call);
  return mergeStates(`${scope} state`, rows[scope]?.state ?? '{}');
}

function sessionOf<Events>(
  key: WindowRequest['key'],
  rows: StateRows,
  events: Events,
): ReadSession<Events> | undefined {
  const { session } = rows;
  if (session === undefined) return undefined;
  const { created, revision, lastUpdateTime, title, labels, parent } = session;
  const state = mergedState(key, session, rows);
  return { created, revision, lastUpdateTime, state, events, title, labels, parent };
}

/** Merges the state of a session with those of its user and its app. */
function mergedState(
  { sessionId }: WindowRequest['key'],
  { state }: { readonly state: string },
  { user, app }: StateRows,
): string {
  const shared = { user: user?.state, app: app?.state };
  return mergeStates(`state of session "${sessionId}"`, state, shared);
}

/**
 * Reads a page of a session's events. Of a storage without `readPage` it reads the whole session, so it gives the rest
 * of a walk at once.
 */
export async function pageThrough(
  storage: Pick<Storage, 'read' | 'readPage'>,
  page: PageRequest,
  call: Call,
): Promise<ReadPage | undefined> {
  const { key, direction, eventId, withCount, skipCorrupt = false } = page;
  const isForward = direction === 'after';
  const hasVerb = storage.readPage !== undefined;
  const limit = page.isToEnd === true && !hasVerb ? NO_LIMIT : page.limit;
  const given: StoragePageRequest = {
    key,
    direction,
    // One event more tells whether there are older ones.
    limit: isForward ? limit : limit + 1,
    ...(eventId !== undefined && { eventId }),
    ...(!withCount && { withCount }),
  };
  const request = requestOf(given, call);
  const verb = hasVerb ? 'readPage' : 'read';
  return runVerb(verb, call, async () => {
    const read = hasVerb ? storage.readPage!(request) : readAndCut(storage, request);
    const rows: PageRows = await untilAborted(call.signal, read);
    const { session } = rows;
    if (session === undefined) return undefined;
    const { created, revision, lastUpdateTime, createTime, initialState } = session;
    const { title, labels, parent } = session;
    if (rows.events === undefined && eventId !== undefined) return { created };
    const all = rows.events!;
    const events = all.slice(isForward ? 0 : -limit);
    const { eventCount } = rows;
    return {
      created,
      revision,
      events: parseRows(events, key.sessionId, skipCorrupt),
      hasOlder: isForward ? eventId !== undefined : all.length > limit,
      firstId: events[0]?.id,
      lastId: events.at(-1)?.id,
      eventCount,
      createTime,
      lastUpdateTime,
      initialState,
      title,
      labels,
      parent,
    };
  });
}

/** Returns whether a storage reads parts of a session; see `StoreTraits.readsParts`. */
export function canReadParts(storage: Storage): boolean {
  const verbs = ['readEvents', 'readMarkers', 'readPage'] as const;
  return verbs.every((verb) => storage[verb] !== undefined);
}

/** Reads events by their ids. Of a storage without `readEvents` it reads the whole session. */
export async function eventsThrough(
  storage: Pick<Storage, 'read' | 'readEvents'>,
  { key, eventIds }: IdsRequest,
  call: Call,
): Promise<StoredEvents | undefined> {
  const given: StorageEventsRequest = { key, eventIds };
  const request = requestOf(given, call);
  const hasVerb = storage.readEvents !== undefined;
  const verb = hasVerb ? 'readEvents' : 'read';
  return runVerb(verb, call, async () => {
    const window = eventIds.length === 0 ? { last: 0 } : {};
    const read = async () =>
      hasVerb ? storage.readEvents!(request) : storage.read(requestOf({ key, window }, call));
    const rows: FoundEvents = await untilAborted(call.signal, read());
    const { session } = rows;
    if (session === undefined) return undefined;
    const ids = new Set(eventIds);
    const found = rows.events.filter(({ id }) => ids.has(id));
    const { created, revision } = session;
    const places = found.map(({ seq, revision, text }) => ({ seq, revision, text }));
    return { created, revision, events: storedEvents(places, key.sessionId) };
  });
}

/** Reads a session's markers. Returns `undefined` if there is no session, or if the storage cannot find them alone. */
export async function markersThrough(
  storage: Storage,
  { key, eventId, invocationId, skipCorrupt = false }: MarkersRequest,
  call: Call,
): Promise<ReadMarkers | undefined> {
  const verb = 'readMarkers';
  if (storage[verb] === undefined) return undefined;
  const given: StorageMarkersRequest = {
    key,
    ...(eventId !== undefined && { eventId }),
    ...(invocationId !== undefined && { invocationId }),
  };
  const request = requestOf(given, call);
  return runVerb(verb, call, async () => {
    const rows: MarkerRows = await untilAborted(
      call.signal,
      (async () => storage[verb]!(request))(),
    );
    const { session } = rows;
    if (session === undefined) return undefined;
    const { created, revision } = session;
    return { created, revision, events: parseRows(rows.events, key.sessionId, skipCorrupt) };
  });
}
