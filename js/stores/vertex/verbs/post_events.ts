/**
 * Posts events to a session.
 *
 * An event is posted with its own time, or one microsecond after the last stored event if that is later. So
 * the server's order is the append order, whatever timestamps the events carry. Google's clients nearly
 * always see the event's own time. No event is posted earlier than its own time, so a filter on the server's
 * times misses none.
 *
 * The server takes one event per request, so several events are posted one after another. If one fails, the
 * events before it stay stored, and a retry with all of them stores the rest. With `stale: 'reject'` the
 * retry needs a handle that was read again: the old handle lacks the stored events.
 */
import { isEqualText } from '../../../values/json/equal.js';
import { millisecondsToMicros } from '../../../values/python/micros.js';
import type { EventRow } from '../../../core/storage/rows.js';
import { toEventResource } from '../events/event_resource.js';
import { hasStatus } from '../../http/http_errors.js';
import { mayHaveTakenEffect, withAdvice } from '../rest/rest_errors.js';
import type { SessionAddress, Sessions } from './sessions.js';

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
