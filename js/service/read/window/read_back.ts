import type { Event } from '../../../values/model/event/event.js';
import type { Session } from '../../../values/model/session.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import { nextLast } from '../../../core/storage/reads/growing_read.js';
import type { Plan } from '../../../core/storage/reads/read_plan.js';
import { windowStart } from './window_start.js';

/** Events to read beyond the wanted number. Most turns begin within so many events. */
const EXTRA_EVENTS = 16;

/**
 * A plan of reads of one session, each with so many of the last events of its view for models, in one step of the
 * storage.
 */
export type ReadBack<S extends object> = Plan<
  EventCount,
  Session<S> | undefined,
  Session<S> | undefined
>;

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
export function* readBack<S extends object>(
  skipsCorrupt: boolean,
  wanted: number,
  latestStart: (events: Event[]) => number,
): ReadBack<S> {
  const first = wanted + EXTRA_EVENTS;
  let previousLength = -1;
  let last: EventCount = Number.isSafeInteger(first) ? first : 'all';
  for (; ; last = nextLast(last)) {
    const session = yield last;
    if (session === undefined) return undefined;
    const { events } = session;
    const { length } = events;
    // If damaged events are left out, a short read may not be the whole session. It is if a longer
    // read has no more events. A view for models may have more events than asked for.
    const isWhole =
      last === 'all' || (length < last && (!skipsCorrupt || length === previousLength));
    const start = windowStart(events, latestStart(events), isWhole);
    previousLength = length;
    if (start === undefined) continue;
    events.splice(0, start);
    return session;
  }
}
