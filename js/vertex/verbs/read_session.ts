/** Reads a session with a window of its events. */
import { LAST_MICROS } from '../../python/micros.js';
import { isShared, isTemp, REMOVED } from '../../state/scope.js';
import type { EventRow, ReadRequest, SessionRow } from '../../storage/adapter.js';
import { both } from './both.js';
import { fold, newestOf } from '../events/fold.js';
import type { PostedEvent } from '../events/event_resource.js';
import { isSameValue } from '../events/same_value.js';
import { isOwnedBy, sessionRow, stateOf } from './session_resource.js';
import type { SessionPlace, Sessions } from './sessions.js';

/** Maximum page size of a request for the newest events. */
const MAX_PAGE = 100;

interface SessionRows {
  readonly session: SessionRow;
  readonly events: EventRow[];
}

/** The posted events that the window needs. */
interface Posted {
  readonly events: readonly PostedEvent[];
  /** Whether one request returned all of them. Then no append can have come between two requests. */
  readonly isOnePage: boolean;
}

/** @returns `undefined` if it does not exist or belongs to another user */
export async function readSession(
  sessions: Sessions,
  place: SessionPlace,
  { window }: Pick<ReadRequest, 'window'>,
): Promise<SessionRows | undefined> {
  const [found, posted] = await both(
    sessions.find(place),
    sessions.orAbsent(readPosted(sessions, place, window)),
  );
  if (found === undefined || posted === undefined || !isOwnedBy(found, place.userId)) {
    return undefined;
  }
  const { events, isOnePage } = posted;
  // The state must not be older than the events: a later append would not bring the missing keys to the
  // handle.
  const isCurrent = isOnePage && reflects(stateOf(found), events);
  const resource = isCurrent ? found : await sessions.find(place);
  if (resource === undefined) return undefined;
  const rows = fold(events);
  const session = sessionRow(place.appName, resource, newestOf(rows));
  sessions.seen.note(place.url, session.created, rows);
  return { session, events: windowOf(rows, window) };
}

function windowOf(rows: EventRow[], { last, after }: ReadRequest['window']): EventRow[] {
  const passed = after === undefined ? rows : rows.filter(({ timestamp }) => timestamp >= after);
  if (last === undefined) return passed;
  return last === 0 ? [] : passed.slice(-last);
}

async function readPosted(
  { events }: Sessions,
  { url }: SessionPlace,
  { last, after }: ReadRequest['window'],
): Promise<Posted> {
  const read: PostedEvent[][] = [];
  if (last === undefined && after === undefined) {
    for await (const page of events.forwards(url, 0)) read.push(page);
    return { events: read.flat(), isOnePage: read.length <= 1 };
  }
  // No event is posted earlier than its own time, see `append_events.ts`.
  const from = after === undefined ? 0 : Math.min(LAST_MICROS, Math.floor(after * 1000));
  const wanted = Math.max(1, last ?? Infinity);
  // One more than wanted: the next page may hold another event with the oldest one's time, so the oldest one
  // cannot be counted.
  const pageSize = Math.min(MAX_PAGE, wanted + 1);
  for await (const page of events.backwards(url, from, pageSize)) {
    read.unshift(page);
    if (last !== undefined && isEnough(read.flat(), wanted, after)) break;
  }
  const posted = read.flat();
  if (posted.length > 0 || from <= 0) return { events: posted, isOnePage: read.length <= 1 };
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
function isEnough(posted: readonly PostedEvent[], wanted: number, after = -Infinity): boolean {
  const from = posted[0]?.posted ?? 0;
  const there = fold(posted).filter(({ seq, timestamp }) => seq > from && timestamp >= after);
  return there.length >= wanted;
}

/**
 * Returns whether the state has the last value that the events gave to each key. `user:` and `app:` keys are
 * not compared: other sessions write them too.
 */
function reflects(state: Record<string, unknown>, events: readonly PostedEvent[]): boolean {
  const written = new Map<string, unknown>();
  for (const { text } of events) {
    for (const [key, value] of Object.entries(deltaOf(text))) {
      if (!isShared(key) && !isTemp(key)) written.set(key, value);
    }
  }
  return [...written].every(([key, value]) => {
    if (value === REMOVED || value === null) return !Object.hasOwn(state, key);
    return Object.hasOwn(state, key) && isSameValue(state[key], value);
  });
}

function deltaOf(text: string): object {
  try {
    const { actions } = JSON.parse(text) as { actions?: { stateDelta?: object } };
    return actions?.stateDelta ?? {};
  } catch {
    return {};
  }
}
