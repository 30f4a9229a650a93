/**
 * Appends events: read, ask, post.
 *
 * An event is posted as of its own time, or a microsecond after the last that is there, if that is later.
 * So the server's order is that of the appends, whatever events say of their times, google's clients see an
 * event's own time nearly always, and none is ever posted earlier than that: a filter on the server's times
 * loses no event.
 *
 * The server takes one event at a time. Several are posted one after the other; where one fails, those
 * before it are stored, and whoever tries all of them again stores the rest; where handles are stale as soon as
 * another has appended, through a handle that is read anew, since the one at hand knows of none of them.
 */
import { isSameJson } from '../../wasm/core.js';
import { SessionError } from '../../errors/errors.js';
import { LAST_REVISION, microsOf } from '../../python/micros.js';
import type { Changes, Decide, EventRow, Found, WriteRequest } from '../../storage/adapter.js';
import { both } from './both.js';
import { toEventResource } from '../events/event_resource.js';
import { hasStatus, mayBeDone } from '../rest/failure.js';
import { newestOf } from '../events/fold.js';
import { RecentEvents } from '../events/recent_events.js';
import { isOwnedBy, sessionRow } from './session_resource.js';
import type { SessionPlace, Sessions } from './sessions.js';

/** As nothing is found. */
export const NOTHING: Found = { events: [], changed: [], floor: 0 };

type AppendRequest = Pick<WriteRequest, 'eventIds' | 'since'>;

export async function appendEvents(
  sessions: Sessions,
  place: SessionPlace,
  request: AppendRequest,
  decide: Decide,
): Promise<void> {
  try {
    await readAndPost(sessions, place, request, decide);
  } catch (error) {
    // It was deleted in between.
    const isGone = hasStatus(error, 404) && (await sessions.find(place)) === undefined;
    if (!isGone) throw error;
    decide(NOTHING);
  }
}

async function readAndPost(
  sessions: Sessions,
  place: SessionPlace,
  { eventIds, since }: AppendRequest,
  decide: Decide,
): Promise<void> {
  const recent = new RecentEvents(sessions.events, place.url);
  const isTold = since <= LAST_REVISION;
  const [resource] = await both(
    sessions.find(place),
    sessions.orAbsent(recent.read(isTold ? since : undefined)),
  );
  if (resource === undefined || !isOwnedBy(resource, place.userId)) {
    decide(NOTHING);
    return;
  }
  const { created } = sessionRow(place.appName, resource, undefined);
  await recent.readNewest(created);
  const found = (): Found => {
    const rows = recent.rows();
    return {
      session: sessionRow(place.appName, resource, newestOf(rows)),
      events: rows.filter(({ id }) => eventIds.includes(id)),
      changed: isTold ? rows : [],
      floor: 0,
    };
  };
  let changes = decide(found());
  const from = Math.min(earliest(changes), sessions.seen.earliest(place.url, created, eventIds));
  if (await recent.lookBack(eventIds, from)) changes = decide(found());
  const rows = postings(found(), changes, decide);
  for (const [number, posting] of rows.entries()) {
    try {
      await post(sessions, place, posting);
    } catch (error) {
      throw number === 0 ? error : inPart(error, number, rows.length);
    }
  }
  // What others have appended meanwhile has come to the handle.
  sessions.seen.note(place.url, created, [...recent.rows(), ...rows]);
}

/** How far back an event may be stored that is now to be written: as far as its own time. Unknown without one. */
function earliest(changes: Changes | undefined): number {
  if (changes === undefined) return 0;
  const times = changes.events.map(({ timestamp }) => Math.floor(timestamp * 1000));
  return times.reduce((one, other) => Math.min(one, other), Infinity);
}

/** An event to be posted; its `revision` is when, its `seq` where it then stands. */
type Posting = Pick<EventRow, 'id' | 'seq' | 'revision' | 'text'>;

/**
 * What to post, and when. The decision counts revisions one by one, where events have times of their own; so
 * it is asked once more for the last of them to be the last one's time. Those before are no later than it says.
 */
function postings(found: Found, first: Changes | undefined, decide: Decide): Posting[] {
  if (first?.session === undefined) return [];
  const count = first.events.length;
  const times: number[] = [];
  let last = first.session.revision - count;
  for (const { timestamp } of first.events) {
    last = Math.max(last + 1, microsOf(timestamp));
    times.push(last);
  }
  const isLater = last > first.session.revision;
  const changes = isLater ? decide({ ...found, floor: last - count }) : first;
  const posted = new Map<number, number>();
  return (changes?.events ?? []).map(({ id, seq, revision, text }, number) => {
    const time = times[number] ?? revision;
    posted.set(revision, time);
    // Of a version of one that is posted with it, too.
    return { id, seq: posted.get(seq) ?? seq, revision: time, text };
  });
}

/** Posts an event once: where no answer tells that it is there, it is looked for before it is sent again. */
async function post(sessions: Sessions, { url }: SessionPlace, row: Posting): Promise<void> {
  const { rest, events } = sessions;
  const isNew = row.seq === row.revision;
  let resource = toEventResource(row.text, row.revision, isNew ? undefined : row.seq);
  const send = async (): Promise<void> => {
    try {
      await rest.once('POST', `${url}:appendEvent`, {}, resource);
    } catch (error) {
      if (!hasStatus(error, 400) || resource.rawEvent === undefined) throw error;
      // It may be this that a server does not take: objects in it may nest deeper than protobuf reads.
      resource = { ...resource, rawEvent: undefined };
      await rest.once('POST', `${url}:appendEvent`, {}, resource);
    }
  };
  const tries = rest.tries();
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!mayBeDone(error)) throw error;
      const there = await events.read(url, row.revision);
      if (there.some(({ id, text }) => id === row.id && isSameJson(text, row.text))) return;
      await tries.next(error);
    }
  }
}

function inPart(error: unknown, stored: number, all: number): unknown {
  if (!(error instanceof SessionError)) return error;
  const { code, message, status, body, storage } = error;
  const what =
    `${stored} of ${all} events are stored, and the others not; append all of them again, ` +
    "with stale: 'reject' through a handle read anew: none is stored twice.";
  return new SessionError(code, `${what} ${message}`, {
    status,
    body,
    storage,
    cause: error,
  });
}
