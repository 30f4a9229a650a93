import type { Event } from '../model/event.js';
import { kindOf } from '../json/rules.js';
import type { Session } from '../model/session.js';
import type { StateShape } from '../state/state_shape.js';
import { after, invalid, type MaybePromise } from '../call/call.js';
import { missingCalls, windowStart } from './history_window.js';

/**
 * How much of its history a session is given out with, where the caller does not say: a framework asks
 * for the whole session at each turn.
 *
 * @example
 * ```ts
 * import { type HistoryOptions, InMemorySessionService } from 'adk-session-wasm';
 *
 * const history: HistoryOptions = { numRecentEvents: 50 };
 * const service = new InMemorySessionService({ history });
 * ```
 */
export interface HistoryOptions {
  /**
   * The last so many events, a whole number from 0 up, and as many more as it takes for them to begin
   * with a message of the user. So turns are never cut, and where the user says nothing for long, as
   * with an agent that runs by itself, all that it did since is in it.
   *
   * Further back it goes where
   * - a function's response would stand without its call;
   * - a workflow has stopped for an answer, which the next message may be;
   * - a compactor's summary is followed by events that it does not cover.
   *
   * A summary that lies before all that is not seen.
   */
  numRecentEvents: number;
}

/** Reads a session with its last so many events, all in one step; `undefined` if there is none. */
type ReadLast<S extends StateShape> = (last: number) => MaybePromise<Session<S> | undefined>;

/** Events to read beyond those that are wanted: most turns begin within so many. */
const MARGIN = 16;

/** How many times more to read where that was not enough: few reads, and little read in vain. */
const GROWTH = 4;

/**
 * What the option `history` does.
 *
 * A read that turns out too short is done again, further back, and what it gave is dropped: each is one
 * step of the storage, so that events, state and revision are always those of one moment, whatever is
 * appended in between.
 *
 * Calls that wait for an answer may lie anywhere in the past, and no window that ends somewhere holds
 * them all. So none is looked for until the answer is there: when it is appended, what lies between its
 * call and the window is put before the handle's events. Only an answer to what was never called has the
 * whole session read, in vain, for as long as it lies in the window.
 */
export class History {
  readonly #recent: number;
  /** The `state` of handles that may lack events, which their copies by spread share. */
  readonly #capped = new WeakSet<object>();
  /** Answers whose calls could not be read after their append, by the handle's `state`. */
  readonly #owed = new WeakMap<object, readonly Event[]>();

  /** @throws SessionError `invalid_argument` */
  constructor(options: HistoryOptions) {
    this.#recent = recentOf(options);
  }

  /** Reads a session with as much of its history as the option says. */
  read<S extends StateShape>(
    readLast: ReadLast<S>,
    skipsCorrupt: boolean,
  ): MaybePromise<Session<S> | undefined> {
    return this.#readBack(readLast, skipsCorrupt, this.#recent, ({ length }) => {
      return length - this.#recent;
    });
  }

  /** Takes off a handle with all events what is not to be seen. */
  cut<S extends StateShape>(session: Session<S>): Session<S> {
    const { events, state } = session;
    const start = windowStart(events, events.length - this.#recent, true) ?? 0;
    if (start > 0) this.#capped.add(state);
    events.splice(0, start);
    return session;
  }

  /**
   * Brings the calls that events answer onto the handle through which these were just appended, with
   * all that followed. Never fails, as the events are stored: the next append through the handle tries
   * again.
   */
  recall<S extends StateShape>(
    session: Session<S>,
    appended: readonly Event[],
    readLast: ReadLast<S>,
  ): MaybePromise<void> {
    const answers = [...(this.#owed.get(session.state) ?? []), ...appended];
    this.#owed.delete(session.state);
    const owe = (): void => {
      this.#owed.set(session.state, answers);
    };
    try {
      const recalled = this.#recall(session, answers, readLast);
      return recalled instanceof Promise ? recalled.catch(owe) : recalled;
    } catch {
      owe();
    }
  }

  #recall<S extends StateShape>(
    session: Session<S>,
    appended: readonly Event[],
    readLast: ReadLast<S>,
  ): MaybePromise<void> {
    const { events, state } = session;
    const stored = appended.filter(({ partial }) => partial !== true);
    if (!this.#capped.has(state) || missingCalls(stored, events).size === 0) return undefined;
    const read = this.#readBack(readLast, true, events.length, (read) => firstOf(events, read));
    return after(read, (read) => {
      if (read === undefined || !Object.isExtensible(events)) return;
      const known = new Set(events.map(({ id }) => id));
      const earlier = read.events.slice(0, Math.max(0, firstOf(events, read.events)));
      const later = events.splice(0);
      for (const event of earlier) if (!known.has(event.id)) events.push(event);
      for (const event of later) events.push(event);
    });
  }

  /** @param latestOf where the window has to begin at the latest; −1 if before these events */
  #readBack<S extends StateShape>(
    readLast: ReadLast<S>,
    skipsCorrupt: boolean,
    wanted: number,
    latestOf: (events: Event[]) => number,
  ): MaybePromise<Session<S> | undefined> {
    const attempt = (last: number, before: number): MaybePromise<Session<S> | undefined> =>
      after(readLast(last), (session) => {
        if (session === undefined) return undefined;
        const { events, state } = session;
        const { length } = events;
        // Where damaged ones are left out, fewer than were asked for are no sign of the beginning.
        const isWhole = skipsCorrupt ? length === before : length < last;
        const start = windowStart(events, latestOf(events), isWhole);
        if (start === undefined) return attempt(last * GROWTH, length);
        if (start > 0 || !isWhole) this.#capped.add(state);
        events.splice(0, start);
        return session;
      });
    return attempt(wanted + MARGIN, -1);
  }
}

/** Where the first of a handle's events that was read stands; −1 if none was. */
function firstOf(events: readonly Event[], read: readonly Event[]): number {
  const positions = new Map(read.map(({ id }, position) => [id, position]));
  for (const { id } of events) {
    const position = positions.get(id);
    if (position !== undefined) return position;
  }
  return -1;
}

function recentOf(options: unknown): number {
  if (typeof options !== 'object' || options === null) {
    throw invalid('history', `must be an object with numRecentEvents; it is ${kindOf(options)}`);
  }
  const { numRecentEvents: recent } = options as Partial<HistoryOptions>;
  // What is asked for has to stay a whole number when the margin is added.
  if (Number.isSafeInteger(recent) && Number.isSafeInteger(recent! + MARGIN) && recent! >= 0) {
    return recent!;
  }
  const given = typeof recent === 'number' ? String(recent) : kindOf(recent);
  throw invalid('history.numRecentEvents', `must be a whole number from 0 up; it is ${given}`);
}
