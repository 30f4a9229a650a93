import { type Call, requireNotAborted, takeOptions } from '../../core/call/call.js';
import { optionalBoolean, optionalCount, requireOneOf } from '../../values/errors/option_values.js';
import { invalid, invalidValue, sessionNotFound } from '../../values/errors/invalid.js';
import type { SessionError } from '../../values/errors/errors.js';
import { type Handles, snapshotHandle } from '../../core/handle/handle.js';
import type { Event } from '../../values/model/event/event.js';
import type {
  EventsPage,
  EventsRequest,
  GetEventsRequest,
  ListEventsRequest,
  StoredEvents,
  ChangesSince,
  ListChangesRequest,
} from '../../values/model/event_page.js';
import { requireId, requireKey, requireUser } from '../../values/model/values/ids.js';
import type { Abortable, CompositeSessionKey, Session } from '../../values/model/session.js';
import { HISTORY_VIEWS } from '../../values/model/values/read_options.js';
import type { SessionInfo, SessionInfoRequest } from '../../values/model/session_info.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { changesOf } from '../../core/storage/changes.js';
import { runPlan } from '../../core/storage/reads/read_plan.js';
import type { PageRequest, ReadInfo, ReadPage } from '../../core/read.js';
import {
  cursorText,
  foreignCursor,
  readPlace,
  eventCursorTarget,
  EVENT_CURSOR,
} from '../../core/storage/reads/cursors.js';
import type { ReaderParts } from './reader_parts.js';
import { initialStateOf, readInfo, type Shown } from '../../core/storage/reads/session_info.js';

/** The highest limit of a page. A page of a view may have some more. */
const MAX_PAGE = 1000;
/** The most events that are read by their ids at once. */
export const MAX_IDS = 100;
/** The number of events of a page if the request has no limit. */
const DEFAULT_LIMIT = 50;

/** Takes the limit of a page: from 1 to 1,000 events. Returns the default if it is absent or null. */
export function takeEventLimit(value: unknown): number {
  const limit = optionalCount('limit', value, 1) ?? DEFAULT_LIMIT;
  if (limit <= MAX_PAGE) return limit;
  throw invalid('limit', `must not be greater than ${MAX_PAGE}; it is ${limit}`);
}

/** Takes the ids of events, each once. */
function takeEventIds(value: unknown): string[] {
  if (!Array.isArray(value)) throw invalidValue('eventIds', 'must be an array', value);
  for (const id of value as unknown[]) {
    if (typeof id !== 'string') throw invalidValue('eventIds', 'must be strings', id);
  }
  if (value.length > MAX_IDS) {
    throw invalid('eventIds', `must be at most ${MAX_IDS}; they are ${value.length}`);
  }
  return [...new Set(value as string[])];
}

/** Reads pages of a session's events. */
export class EventPages {
  readonly #parts: Pick<ReaderParts, 'callStore'> & { readonly handles: Handles };

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /**
   * Reads a page.
   *
   * @param walk the order of the walk that reads the page. Without a cursor, a walk in order `'asc'` begins with the
   *   first events
   */
  async list(
    request: ListEventsRequest,
    call: Call,
    walk?: EventsRequest['order'],
  ): Promise<EventsPage> {
    const { appName, userId, sessionId, before, after: newer } = request;
    requireUser(request);
    if (before !== undefined && newer !== undefined) {
      throw invalid('after', 'must not be given together with before');
    }
    const limit = takeEventLimit(request.limit);
    const isAtCursor = before !== undefined || newer !== undefined;
    const withCount = optionalBoolean('withCount', request.withCount) ?? !isAtCursor;
    const skipCorrupt = optionalBoolean('skipCorrupt', request.skipCorrupt) ?? false;
    const [member, given] = newer === undefined ? (['before', before] as const) : ['after', newer];
    const key = { appName, userId, sessionId };
    const target = eventCursorTarget(key);
    const place = given === undefined ? [] : readPlace(member, EVENT_CURSOR, target, given);
    const [wasCreated, eventId] = place as readonly [number?, string?];
    const direction = walk === 'asc' || newer !== undefined ? 'after' : 'before';
    // The caller of a walk back may need its first page only. With the second one it reads on to the end.
    const isToEnd = walk === 'asc' || (walk === 'desc' && isAtCursor);
    const view = requireOneOf('view', request.view ?? 'raw', HISTORY_VIEWS);
    const page = { key, direction, eventId, limit, withCount, isToEnd, skipCorrupt, view } as const;
    const read = await this.readPage({ ...page, created: wasCreated }, call);
    const { created, events, hasOlder, firstId, eventCount } = read;
    if (events === undefined || (wasCreated !== undefined && wasCreated !== created)) {
      throw foreignCursor(member, EVENT_CURSOR, 'of a deleted session or event');
    }
    const cursor = (eventId: string): string =>
      cursorText(EVENT_CURSOR, target, [created, eventId]);
    const lastId = read.lastId ?? (direction === 'after' ? eventId : undefined);
    return {
      events,
      ...(hasOlder === true && firstId !== undefined && { before: cursor(firstId) }),
      ...(lastId !== undefined && { after: cursor(lastId) }),
      ...(eventCount !== undefined && withCount && { eventCount }),
    };
  }

  /** Reads a page as its view shows it. */
  async readPage({ view = 'raw', ...page }: PageRequest, call: Call): Promise<ReadPage> {
    const { sessionId } = page.key;
    requireId('sessionId', sessionId);
    const read = await this.#parts.callStore<ReadPage | undefined>(call, (store) => {
      if (view === 'raw') return store.read({ ...page, kind: 'page' }, call);
      const { views } = store.traits;
      if (views === undefined) return store.read({ ...page, view, kind: 'page' }, call);
      return runPlan(views.page(view, page), (request) => store.read(request, call));
    });
    if (read === undefined) throw sessionNotFound(sessionId);
    return read;
  }

  /** Computes the result of `sessionInfo`. */
  async info<S extends object>(request: SessionInfoRequest, call: Call): Promise<SessionInfo<S>> {
    return (await this.readInfo(request, call)).info as SessionInfo<S>;
  }

  /** Reads what a session holds, with its revisions. */
  async readInfo(request: SessionInfoRequest, call: Call, shown?: Shown): Promise<ReadInfo> {
    const { appName, userId, sessionId } = request;
    requireUser(request);
    const skipCorrupt = optionalBoolean('skipCorrupt', request.skipCorrupt) ?? false;
    requireId('sessionId', sessionId);
    requireNotAborted(call.signal);
    const key = { appName, userId, sessionId };
    const read = await this.#parts.callStore(call, (store) =>
      readInfo(store, { key, skipCorrupt }, call, shown),
    );
    if (read === undefined) throw sessionNotFound(sessionId);
    return read;
  }

  /** Reads the session's own state at its creation; `undefined` if it is not known. */
  async initialState(request: CompositeSessionKey & Abortable): Promise<StateShape | undefined> {
    const { appName, userId, sessionId, signal } = request;
    const key = { appName, userId, sessionId };
    const page = { direction: 'before', eventId: undefined, limit: 1, withCount: false } as const;
    const read = await this.readPage({ key, ...page, skipCorrupt: true }, { signal });
    return initialStateOf<StateShape>(read.initialState).initialState;
  }

  /**
   * Reads older events, and puts them before those of a handle.
   *
   * @returns whether even older events are stored
   */
  async addOlder(
    { session, limit }: { readonly session: Session; readonly limit: unknown },
    options: Abortable,
    given: Call,
  ): Promise<boolean> {
    const { signal } = takeOptions(options);
    requireNotAborted(signal);
    const { appName, userId, id: sessionId, events, state } = snapshotHandle(session);
    const [first] = events as readonly (Event | null | undefined)[];
    const eventId = first?.id;
    if (events.length > 0 && typeof eventId !== 'string') throw notStored();
    const key = { appName, userId, sessionId };
    const page = {
      key,
      direction: 'before',
      eventId,
      limit: takeEventLimit(limit),
      withCount: false,
    } as const;
    const { handles } = this.#parts;
    const view = handles.historyViewOf(state);
    const known = handles.createdRevisionOf(state, undefined);
    const rest = { view, isShown: true, created: known };
    const read = await this.readPage({ ...page, ...rest }, { ...given, signal });
    const { created, events: older, hasOlder } = read;
    if (created !== (known ?? created)) throw sessionNotFound(sessionId);
    if (older === undefined) throw notStored();
    if (!Object.isExtensible(events)) throw invalid('session.events', 'was frozen meanwhile');
    putOlder(events, eventId, older);
    return hasOlder === true;
  }

  /** Reads events by their ids. */
  async byIds(request: GetEventsRequest, call: Call): Promise<StoredEvents> {
    const { appName, userId, sessionId } = request;
    requireKey(request);
    const eventIds = takeEventIds(request.eventIds);
    const key = { appName, userId, sessionId };
    const found = await this.#parts.callStore(call, (store) =>
      store.read({ kind: 'ids', key, eventIds }, call),
    );
    if (found === undefined) throw sessionNotFound(sessionId);
    const byId = new Map(found.events.map((stored) => [stored.event.id, stored]));
    const { created, revision } = found;
    return { created, revision, events: eventIds.flatMap((id) => byId.get(id) ?? []) };
  }

  /** Reads what has changed in a session since a revision. */
  async changes<S extends object>(
    request: ListChangesRequest,
    call: Call,
  ): Promise<ChangesSince<S>> {
    const { appName, userId, sessionId, since, created } = request;
    requireKey(request);
    optionalCount('since', since ?? NaN);
    optionalCount('created', created);
    const key = { appName, userId, sessionId };
    const given = { key, since, created };
    const changed = await this.#parts.callStore(call, (store) =>
      store.read({ ...given, kind: 'since' }, call),
    );
    if (changed === undefined) throw sessionNotFound(sessionId);
    return changesOf(changed, given) as ChangesSince<S>;
  }
}

/**
 * Puts older events before those of a handle, in the order of the store.
 *
 * The handle may have some of them already. Another call has put those before `firstId` there meanwhile: they stay. An
 * append has put those after it at the end, since they were outside of the handle's window: they move to the front.
 *
 * @param firstId the handle's first event when the page was requested
 */
function putOlder(events: Event[], firstId: string | undefined, older: readonly Event[]): void {
  // A hand-made array may hold anything.
  const held = events as readonly (Event | null | undefined)[];
  const positions = new Map(held.map((event, position) => [event?.id, position]));
  const start = positions.get(firstId) ?? events.length;
  const added: Event[] = [];
  const moved: number[] = [];
  for (const event of older) {
    const position = positions.get(event.id);
    if (position === undefined) {
      added.push(event);
    } else if (position > start) {
      added.push(events[position]!);
      moved.push(position);
    }
  }
  for (const position of moved.sort((one, other) => other - one)) events.splice(position, 1);
  events.unshift(...added);
}

/**
 * Yields a session's events, page by page.
 *
 * @param list reads a page; see {@link EventPages.list}
 */
export async function* walkEvents(
  { order = 'asc', before, after, ...request }: EventsRequest,
  list: (request: ListEventsRequest, walk: 'asc' | 'desc') => Promise<EventsPage>,
): AsyncGenerator<Event, void, undefined> {
  requireOneOf('order', order, ['asc', 'desc']);
  const isForward = order === 'asc';
  if (isForward ? before !== undefined : after !== undefined) {
    throw invalid(isForward ? 'before' : 'after', `cannot be given with order '${order}'`);
  }
  let cursor = isForward ? after : before;
  for (;;) {
    const cursors = isForward ? { after: cursor } : { before: cursor };
    const page = await list({ ...request, ...cursors, withCount: false }, order);
    yield* isForward ? page.events : page.events.reverse();
    const next = isForward ? page.after : page.before;
    // A page after the last event is empty, and has the cursor of its request.
    if (next === undefined || next === cursor) return;
    cursor = next;
  }
}

function notStored(): SessionError {
  return invalid('session', 'must begin with a stored event, but its first event is not stored');
}
