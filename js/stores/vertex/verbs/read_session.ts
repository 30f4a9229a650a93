/** Reads a session with a window of its events. */
import type { JsonObject } from '../../../values/json/rules.js';
import { LAST_MICROS, LAST_REVISION } from '../../../values/python/micros.js';
import { isShared, isTemp, REMOVED } from '../../../values/state/scope.js';
import type { StorageReadRequest } from '../../../core/storage/requests.js';
import type { EventRow, PageRows, SessionRow } from '../../../core/storage/rows.js';
import { cutPage, NO_LIMIT, type PageCut } from '../../../core/storage/cut_page.js';
import { toEventRows, latestRevision, RecentEvents } from '../events/event_list.js';
import type { PostedEvent } from '../events/event_resource.js';
import { isEqualJson } from '../../../values/json/equal.js';
import { isOwnedBy, sessionRow, stateOf } from './session_resource.js';
import { type SessionAddress, type Sessions, settleBoth } from './sessions.js';

/** Maximum page size of a request for the newest events. */
const MAX_PAGE_SIZE = 100;

interface SessionRows {
  readonly session: SessionRow;
  readonly events: EventRow[];
}

/** The posted events that the window needs. */
interface WindowEvents {
  readonly events: readonly PostedEvent[];
  /** Whether one request returned all of them. Then no append can have come between two requests. */
  readonly isOnePage: boolean;
}

/** @returns `undefined` if it does not exist or belongs to another user */
export async function readSession(
  sessions: Sessions,
  address: SessionAddress,
  { window }: Pick<StorageReadRequest, 'window'>,
): Promise<SessionRows | undefined> {
  const found = await findWith(sessions, address, readWindowEvents(sessions, address, window));
  if (found === undefined) return undefined;
  const [firstRead, { events, isOnePage }] = found;
  // The state must not be older than the events: a later append would not bring the missing keys to the
  // handle.
  const isCurrent = isOnePage && isStateCurrent(stateOf(firstRead), events);
  const resource = isCurrent ? firstRead : await sessions.find(address);
  if (resource === undefined) return undefined;
  const { session, events: rows } = rowsOf(sessions, address, resource, events);
  return { session, events: selectWindow(rows, window) };
}

/**
 * Reads a session with the events that have changed since a revision.
 *
 * @returns `undefined` if it does not exist or belongs to another user
 */
export async function readChanged(
  sessions: Sessions,
  address: SessionAddress,
  since: number,
): Promise<SessionRows | undefined> {
  const recent = new RecentEvents(sessions.events, address.url);
  const isRead = recent.read(since <= LAST_REVISION ? since : undefined).then(() => true);
  const found = await findWith(sessions, address, isRead);
  if (found === undefined) return undefined;
  const [resource] = found;
  const { created } = sessionRow(address.appName, resource, undefined);
  await recent.readNewest(created);
  const events = recent.rows();
  const session = sessionRow(address.appName, resource, latestRevision(events));
  return { session, events: since < session.revision ? events : [] };
}

/**
 * Reads a page of events.
 *
 * @returns `undefined` if the session does not exist or belongs to another user
 */
export async function readEventPage(
  sessions: Sessions,
  address: SessionAddress,
  page: PageCut,
): Promise<PageRows | undefined> {
  const found = await findWith(sessions, address, readBackToPage(sessions, address, page));
  if (found === undefined) return undefined;
  const { session, events } = rowsOf(sessions, address, ...found);
  return { session, events: cutPage(events, page) };
}

/**
 * Finds a session while its events are read.
 *
 * @returns both; `undefined` if the session does not exist or belongs to another user
 */
async function findWith<Events>(
  sessions: Sessions,
  address: SessionAddress,
  events: Promise<Events>,
): Promise<[JsonObject, Events] | undefined> {
  const [resource, read] = await settleBoth(
    sessions.find(address),
    sessions.unlessNotFound(events),
  );
  if (resource === undefined || read === undefined) return undefined;
  return isOwnedBy(resource, address.userId) ? [resource, read] : undefined;
}

/** Makes rows of what was read, and remembers the events. */
function rowsOf(
  { seen }: Sessions,
  { appName, url }: SessionAddress,
  resource: JsonObject,
  posted: readonly PostedEvent[],
): SessionRows {
  const events = toEventRows(posted);
  const session = sessionRow(appName, resource, latestRevision(events));
  seen.record(url, session.created, events);
  return { session, events };
}

/** Reads the events of the page and all later ones. */
async function readBackToPage(
  { events }: Sessions,
  { url }: SessionAddress,
  { direction, eventId, limit }: PageCut,
): Promise<readonly PostedEvent[]> {
  let posted: PostedEvent[] = [];
  const isForward = direction === 'after';
  const readsAll = isForward ? eventId === undefined : limit >= NO_LIMIT;
  const pageSize = eventId === undefined ? Math.min(MAX_PAGE_SIZE, limit + 1) : MAX_PAGE_SIZE;
  for await (const page of events.backwards(url, 0, pageSize)) {
    posted = [...page, ...posted];
    if (readsAll) continue;
    // The next page may hold the first version of an event that stands earlier than this one does.
    const from = posted[0]?.postedAt ?? 0;
    const rows = toEventRows(posted).filter(({ seq }) => seq > from);
    const wanted = isForward ? 0 : limit;
    const found = eventId === undefined ? rows.length : rows.findIndex(({ id }) => id === eventId);
    if (found >= wanted) break;
  }
  return posted;
}

function selectWindow(rows: EventRow[], { last, after }: StorageReadRequest['window']): EventRow[] {
  const matching = after === undefined ? rows : rows.filter(({ timestamp }) => timestamp >= after);
  if (last === undefined) return matching;
  return last === 0 ? [] : matching.slice(-last);
}

async function readWindowEvents(
  { events }: Sessions,
  { url }: SessionAddress,
  { last, after }: StorageReadRequest['window'],
): Promise<WindowEvents> {
  const pages: PostedEvent[][] = [];
  if (last === undefined && after === undefined) {
    for await (const page of events.forwards(url, 0)) pages.push(page);
    return { events: pages.flat(), isOnePage: pages.length <= 1 };
  }
  // No event is posted earlier than its own time, see `append_events.ts`.
  const from = after === undefined ? 0 : Math.min(LAST_MICROS, Math.floor(after * 1000));
  const wanted = Math.max(1, last ?? Infinity);
  // One more than wanted: the next page may hold another event with the oldest one's time, so the oldest one
  // cannot be counted.
  const pageSize = Math.min(MAX_PAGE_SIZE, wanted + 1);
  for await (const page of events.backwards(url, from, pageSize)) {
    pages.unshift(page);
    if (last !== undefined && isWindowComplete(pages.flat(), wanted, after)) break;
  }
  const posted = pages.flat();
  if (posted.length > 0 || from <= 0) return { events: posted, isOnePage: pages.length <= 1 };
  // The newest event gives the revision, even if it is outside the window.
  for await (const newest of events.backwards(url, 0, 1)) {
    // A page may be empty without being the last.
    if (newest.length > 0) return { events: newest, isOnePage: false };
  }
  return { events: [], isOnePage: false };
}

/**
 * Returns whether the last `wanted` events of the window are complete. A new version of an event that stands
 * further back does not count.
 */
function isWindowComplete(
  posted: readonly PostedEvent[],
  wanted: number,
  after = -Infinity,
): boolean {
  const from = posted[0]?.postedAt ?? 0;
  const eventsInWindow = toEventRows(posted).filter(
    ({ seq, timestamp }) => seq > from && timestamp >= after,
  );
  return eventsInWindow.length >= wanted;
}

/**
 * Returns whether the state has the last value that the events gave to each key. `user:` and `app:` keys are
 * not compared: other sessions write them too.
 */
function isStateCurrent(state: Record<string, unknown>, events: readonly PostedEvent[]): boolean {
  const written = new Map<string, unknown>();
  for (const { text } of events) {
    for (const [key, value] of Object.entries(stateDeltaOf(text))) {
      if (!isShared(key) && !isTemp(key)) written.set(key, value);
    }
  }
  return [...written].every(([key, value]) => {
    if (value === REMOVED || value === null) return !Object.hasOwn(state, key);
    return Object.hasOwn(state, key) && isEqualJson(state[key], value);
  });
}

function stateDeltaOf(text: string): object {
  try {
    const { actions } = JSON.parse(text) as { actions?: { stateDelta?: object } };
    return actions?.stateDelta ?? {};
  } catch {
    return {};
  }
}
