import { coreOf } from '../../core/core_of.js';
import { isSessionError } from '../../values/errors/errors.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import type { Event } from '../../values/model/event/event.js';
import type { EventsPage } from '../../values/model/event_page.js';
import type {
  CompositeSessionKey,
  GetSessionConfig,
  Session,
  UserRequest,
} from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { type Pauses, sizeOfJson } from './pauses.js';

/** The storages that read the last events of a session without the others. */
const PAGED = ['memory', 'indexeddb', 'sqlite', 'postgresql', 'mysql'];
/** The events of the first page, and the most of a later one. */
const FIRST_LIMIT = 16;
const MAX_LIMIT = 1000;
/** How many times as many events a page has as the one before, at most. */
const GROWTH = 4;
/** The UTF-16 units that a page should have as JSON. */
const PAGE_UNITS = 2 ** 19;
/** More events than a session has. */
const ALL = 1_000_000_000;

type KeyRequest = CompositeSessionKey & Pick<UserRequest, 'signal'>;

/** How a session is read. */
type ReadOptions = Pick<GetSessionConfig, 'view'> & Pick<HiddenMembers, 'reads'>;

/** How {@link readSession} reads a session. */
interface ReadingOptions extends ReadOptions {
  /** Whether its events are counted, if the storage has pages. */
  readonly isCounted?: boolean | undefined;
}

/** A session, and its events as far as they are asked for. */
export interface SessionReading {
  /** It may have no events. */
  readonly session: Session;
  /** Whether all events of the session can be read. */
  readonly isWhole: boolean;
  /** The number of events, if they were counted. Those that were stored since the session's revision are the newest. */
  readonly eventCount?: number | undefined;
  /** Yields the events, the newest first. */
  events(): AsyncIterable<Event> | Iterable<Event>;
  /** Reads the first events of the session. */
  firstEvents(): Promise<readonly Event[]>;
}

/**
 * Reads a session and its newest events. It has the older ones page by page, each of about half a megabyte. A storage that
 * has to read all events in any case reads them once.
 *
 * @returns `undefined` if there is no such session
 */
export async function readSession(
  service: SessionService,
  request: KeyRequest,
  { isCounted = false, ...options }: ReadingOptions,
  pauses: Pauses,
): Promise<SessionReading | undefined> {
  if (coreOf(service) === undefined || !PAGED.includes(service.storage.kind)) {
    const read = await readEvents(service, request, options);
    return read && { ...read, ...inMemory(read.session.events) };
  }
  const { view } = options;
  const config = { view, numRecentEvents: isCounted ? 0 : FIRST_LIMIT, skipCorrupt: true };
  const list = (limit: number, before?: string, withCount = false) =>
    service.listEvents({ ...request, view, limit, before, withCount, skipCorrupt: true });
  const session = await service.getSession({ ...request, config });
  if (session === undefined) return undefined;
  // An event that is stored after the revision and before the count is among the newest.
  const first = isCounted ? await list(FIRST_LIMIT, undefined, true) : undefined;
  return {
    session,
    isWhole: true,
    eventCount: first?.eventCount,
    events: () => eventsBack(session.events, first, list, pauses),
    firstEvents: async () => {
      const events: Event[] = [];
      const walk = { ...request, limit: FIRST_LIMIT, skipCorrupt: true };
      for await (const event of service.events(walk)) {
        if (events.push(event) >= FIRST_LIMIT) break;
      }
      return events;
    },
  };
}

/** Returns the members of a reading whose events are all there. */
export function inMemory(events: readonly Event[]): Pick<SessionReading, 'events' | 'firstEvents'> {
  return {
    events: () => [...events].reverse(),
    firstEvents: () => Promise.resolve(events.slice(0, FIRST_LIMIT)),
  };
}

/** @param newest the newest events, which are read already; the pages have them too */
async function* eventsBack(
  newest: readonly Event[],
  first: EventsPage | undefined,
  list: (limit: number, before?: string) => Promise<EventsPage>,
  pauses: Pauses,
): AsyncGenerator<Event> {
  yield* [...newest].reverse();
  const ids = new Set(newest.map(({ id }) => id));
  let limit = FIRST_LIMIT;
  for (let page = first ?? (await list(limit)); ;) {
    let size = 0;
    for (const event of [...page.events].reverse()) {
      const own = sizeOfJson(event);
      size += own;
      await pauses.after(own);
      if (!ids.has(event.id)) yield event;
    }
    if (page.before === undefined) return;
    const fitting = Math.floor((PAGE_UNITS * page.events.length) / Math.max(1, size));
    limit = Math.min(limit * GROWTH, Math.max(1, fitting), MAX_LIMIT);
    page = await list(limit, page.before);
  }
}

/**
 * Reads a session with its events: of a cache those of the copy, if the remote cannot be asked for the others.
 *
 * @returns `undefined` if there is no such session
 */
export async function readEvents(
  service: SessionService,
  request: KeyRequest,
  { view, reads }: ReadOptions,
): Promise<{ readonly session: Session; readonly isWhole: boolean } | undefined> {
  const read = (numRecentEvents: number | 'all') => {
    const config = { view, reads, numRecentEvents, skipCorrupt: true };
    return service.getSession({ ...request, config });
  };
  try {
    const session = await read('all');
    return session && { session, isWhole: true };
  } catch (error) {
    if (!isSessionError(error, 'connection_lost') || error.missing !== 'events') throw error;
    const session = await read(ALL);
    return session && { session, isWhole: false };
  }
}
