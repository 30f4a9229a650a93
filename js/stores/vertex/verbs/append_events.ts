/**
 * Appends events: reads the session, calls `decide`, and posts the events.
 */
import type { Decide, StorageWriteRequest } from '../../../core/storage/requests.js';
import { type Changes, type Found, NO_ROWS, type EventRow } from '../../../core/storage/rows.js';
import { isEqualText } from '../../../values/json/equal.js';
import { LAST_REVISION, millisecondsToMicros } from '../../../values/python/micros.js';
import { hasStatus } from '../../http/http_errors.js';
import { latestRevision, RecentEvents } from '../events/event_list.js';
import { toEventResource } from '../events/event_resource.js';
import { mayHaveTakenEffect, withAdvice } from '../rest/rest_errors.js';
import { describeSession } from './describe_session.js';
import { isOwnedBy, sessionRow } from './session_resource.js';
import { type SessionAddress, type Sessions, settleBoth } from './sessions.js';

type AppendRequest = Pick<StorageWriteRequest, 'eventIds' | 'since'>;

export async function appendEvents(
  sessions: Sessions,
  address: SessionAddress,
  request: AppendRequest,
  decide: Decide,
): Promise<void> {
  try {
    await readAndPost(sessions, address, request, decide);
  } catch (error) {
    // The session was deleted in between.
    const isGone = hasStatus(error, 404) && (await sessions.find(address)) === undefined;
    if (!isGone) throw error;
    decide(NO_ROWS);
  }
}

async function readAndPost(
  sessions: Sessions,
  address: SessionAddress,
  { eventIds, since }: AppendRequest,
  decide: Decide,
): Promise<void> {
  const recent = new RecentEvents(sessions.events, address.url);
  const hasRevision = since <= LAST_REVISION;
  const [resource] = await settleBoth(
    sessions.find(address),
    sessions.unlessNotFound(recent.read(hasRevision ? since : undefined)),
  );
  if (resource === undefined || !isOwnedBy(resource, address.userId)) {
    decide(NO_ROWS);
    return;
  }
  const { created, title } = sessionRow(address.appName, resource, undefined);
  await recent.readNewest(created);
  const rowsForDecision = (): Found => {
    const rows = recent.rows();
    return {
      ...NO_ROWS,
      session: sessionRow(address.appName, resource, latestRevision(rows)),
      events: rows.filter(({ id }) => eventIds.includes(id)),
      changed: hasRevision ? rows : [],
    };
  };
  let changes = decide(rowsForDecision());
  const lookBackTo = Math.min(
    earliestPostingTime(changes),
    sessions.seen.earliestPosition(address.url, created, eventIds),
  );
  if (await recent.lookBack(eventIds, lookBackTo)) changes = decide(rowsForDecision());
  const rows = planPostings(rowsForDecision(), changes, decide);
  await postEvents(sessions, address, rows);
  const newTitle = changes?.session?.title;
  if (newTitle !== undefined && newTitle !== title) await setTitle(sessions, address, newTitle);
  // The handle now has these rows, including the events that others appended.
  sessions.seen.record(address.url, created, [...recent.rows(), ...rows]);
}

/**
 * Sets the title that the append gives to the session. The events are stored, so a failure must not fail the append.
 */
async function setTitle(sessions: Sessions, address: SessionAddress, title: string): Promise<void> {
  try {
    await describeSession(sessions, address, { title });
  } catch {
    // The next user message sets it.
  }
}

/**
 * Returns the earliest time, in microseconds, at which these events may be stored already: no event is posted
 * before its own time. Returns 0 if `changes` is absent, since the times are unknown then.
 */
function earliestPostingTime(changes: Changes | undefined): number {
  if (changes === undefined) return 0;
  const times = changes.events.map(({ timestamp }) => Math.floor(timestamp * 1000));
  return times.reduce((one, other) => Math.min(one, other), Infinity);
}

/**
 * Returns the events to post and their times at the server. The decision numbers revisions consecutively, but
 * events have times of their own. So `decide` runs again with a `floor` that makes the last revision equal
 * the last event's time. The events before it are posted no later than their revisions.
 */
function planPostings(
  rowsForDecision: Found,
  first: Changes | undefined,
  decide: Decide,
): Posting[] {
  if (first?.session === undefined) return [];
  const count = first.events.length;
  const times = postingTimes(first.events, first.session.revision - count);
  const last = times.at(-1) ?? first.session.revision;
  const isLater = last > first.session.revision;
  const changes = isLater ? decide({ ...rowsForDecision, floor: last - count }) : first;
  const posted = new Map<number, number>();
  return (changes?.events ?? []).map(({ id, seq, revision, text }, index) => {
    const time = times[index] ?? revision;
    posted.set(revision, time);
    // An event and its new version may be posted together: then `seq` is the posted time of the first one.
    return { id, seq: posted.get(seq) ?? seq, revision: time, text };
  });
}

// Posts events to a session.
//
// An event is posted with its own time, or one microsecond after the last stored event if that is later. So
// the server's order is the append order, whatever timestamps the events carry. Google's clients nearly
// always see the event's own time. No event is posted earlier than its own time, so a filter on the server's
// times misses none.
//
// The server takes one event per request, so several events are posted one after another. If one fails, the
// events before it stay stored, and a retry with all of them stores the rest. With `stale: 'reject'` the
// retry needs a handle that was read again: the old handle lacks the stored events.

/**
 * An event to post. `revision` is its time at the server, `seq` its position among the events, both in
 * microseconds.
 */
export type Posting = Pick<EventRow, 'id' | 'seq' | 'revision' | 'text'>;

/** @param last the time of the last stored event, or of the creation, in microseconds */
export function postingTimes(
  events: readonly Pick<EventRow, 'timestamp'>[],
  last: number,
): number[] {
  let time = last;
  return events.map(({ timestamp }) => {
    return (time = Math.max(time + 1, millisecondsToMicros(timestamp)));
  });
}

export async function postEvents(
  sessions: Sessions,
  address: SessionAddress,
  postings: readonly Posting[],
  sharesState?: boolean,
): Promise<void> {
  for (const [index, posting] of postings.entries()) {
    try {
      await post(sessions, address, posting, sharesState);
    } catch (error) {
      throw index === 0 ? error : partialAppendError(error, index, postings.length);
    }
  }
}

/** Posts an event exactly once: if a request may have taken effect, it looks for the event before it retries. */
async function post(
  sessions: Sessions,
  { url }: SessionAddress,
  row: Posting,
  sharesState: boolean | undefined,
): Promise<void> {
  const { rest, events } = sessions;
  const isNew = row.seq === row.revision;
  const place = isNew ? undefined : row.seq;
  let resource = toEventResource(row.text, row.revision, place, sharesState);
  const send = async (): Promise<void> => {
    try {
      await rest.request('POST', `${url}:appendEvent`, {}, resource);
    } catch (error) {
      if (!hasStatus(error, 400) || resource.rawEvent === undefined) throw error;
      // The server may refuse `rawEvent`: its objects may nest deeper than protobuf reads.
      resource = { ...resource, rawEvent: undefined };
      await rest.request('POST', `${url}:appendEvent`, {}, resource);
    }
  };
  const retries = rest.retries();
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!mayHaveTakenEffect(error)) throw error;
      const storedEvents = await events.read(url, row.revision);
      if (storedEvents.some(({ id, text }) => id === row.id && isEqualText(text, row.text))) return;
      await retries.afterFailure(error);
    }
  }
}

function partialAppendError(error: unknown, stored: number, total: number): unknown {
  const advice =
    `${stored} of ${total} events are stored. Append all of them again: none is stored twice. ` +
    "With stale: 'reject', read the handle again first.";
  return withAdvice(error, advice);
}
