import type { Event } from '../../../values/model/event/event.js';
import type { Session } from '../../../values/model/session.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import { after, type MaybePromise } from '../../../core/call/call.js';
import { decided, growingRead } from '../../../core/storage/reads/growing_read.js';
import { windowStart } from './window_start.js';

/**
 * Reads a session with the last `last` events of its view for models, in one step of the storage; `undefined` if it does
 * not exist.
 */
export type ReadLast<S extends object> = (last: EventCount) => MaybePromise<Session<S> | undefined>;

/** Events to read beyond the wanted number. Most turns begin within so many events. */
const EXTRA_EVENTS = 16;

/**
 * Reads a session back to where an agent's window may begin; see {@link windowStart}.
 *
 * A read that turns out too short is repeated further back, and its result is dropped. Each read is
 * one step of the storage, so events, state and revision always belong together.
 *
 * @param wanted the number of events that the window has at least
 * @param latestStart the latest position at which the window may begin; −1 if that lies before these
 *   events
 */
export function readBack<S extends object>(
  readLast: ReadLast<S>,
  skipsCorrupt: boolean,
  wanted: number,
  latestStart: (events: Event[]) => number,
): MaybePromise<Session<S> | undefined> {
  const first = wanted + EXTRA_EVENTS;
  let previousLength = -1;
  return growingRead<Session<S> | undefined>(Number.isSafeInteger(first) ? first : 'all', (last) =>
    after(readLast(last), (session) => {
      if (session === undefined) return decided(undefined);
      const { events } = session;
      const { length } = events;
      // If damaged events are left out, a short read may not be the whole session. It is if a longer
      // read has no more events. A view for models may have more events than asked for.
      const isWhole =
        last === 'all' || (length < last && (!skipsCorrupt || length === previousLength));
      const start = windowStart(events, latestStart(events), isWhole);
      previousLength = length;
      if (start === undefined) return undefined;
      events.splice(0, start);
      return decided(session);
    }),
  );
}
