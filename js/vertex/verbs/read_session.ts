/** A session with a window of its events. */
import { LAST_MICROS } from '../../python/micros.js';
import { isShared, isTemp, REMOVED } from '../../state/scope.js';
import type { EventRow, ReadRequest, SessionRow } from '../../storage/adapter.js';
import { both } from './both.js';
import { fold, newestOf } from '../events/fold.js';
import type { PostedEvent } from '../events/event_resource.js';
import { isSameValue } from '../events/same_value.js';
import { isOwnedBy, sessionRow, stateOf } from './session_resource.js';
import type { SessionPlace, Sessions } from './sessions.js';

/** Most events of a page that asks for the newest ones. */
const MAX_PAGE = 100;

interface SessionRows {
  readonly session: SessionRow;
  readonly events: EventRow[];
}

/** What was posted, as far as the window needs it. */
interface Posted {
  readonly events: readonly PostedEvent[];
  /** Whether the last request for them was the first: then nothing can have come in between. */
  readonly isOnePage: boolean;
}

/** @returns `undefined` if it is not there, or another user's */
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
  // The state must not be older than the events: what the handle lacked of it, nothing would bring.
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
  // One more, since of the oldest one that is there nobody knows whether it stands alone at its moment.
  const pageSize = Math.min(MAX_PAGE, wanted + 1);
  for await (const page of events.backwards(url, from, pageSize)) {
    read.unshift(page);
    if (last !== undefined && isEnough(read.flat(), wanted, after)) break;
  }
  const posted = read.flat();
  if (posted.length > 0 || from <= 0) return { events: posted, isOnePage: read.length <= 1 };
  // The newest one tells the revision, also where it is not wanted.
  for await (const newest of events.backwards(url, 0, 1)) {
    // A server may give an empty page that is not the last.
    if (newest.length > 0) return { events: newest, isOnePage: false };
  }
  return { events: [], isOnePage: false };
}

/** Whether those that stand last are all there: one that stands further back may be a new version. */
function isEnough(posted: readonly PostedEvent[], wanted: number, after = -Infinity): boolean {
  const from = posted[0]?.posted ?? 0;
  const there = fold(posted).filter(({ seq, timestamp }) => seq > from && timestamp >= after);
  return there.length >= wanted;
}

/** Whether a state has all that the last of the events gave it. Others' scopes also others write. */
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
