/** The last events of a session, and what precedes them so far as it is asked for. */
import { SessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import { rewindTargetOf } from '../../values/model/event/markers.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { Call } from '../call/call.js';
import { EVENTS_PER_TASK, nextTask } from '../call/scheduling.js';
import type { ReadSession } from '../read.js';
import type { Store } from '../storage/store.js';
import { applyDeltas, deltasOf, isOwnKey } from './rules/fold.js';
import { rewindTargets } from './rules/marks.js';
import { type EarlierValues, initialValues, readBefore, readInitialState } from './states.js';

/** How many events are read at once. */
export interface PageSizes {
  readonly first: number;
  /** Each page has four times as many events as the one before, up to this number. */
  readonly most: number;
}

export const PAGE_SIZES: PageSizes = { first: 64, most: EVENTS_PER_TASK };

/** A page of older events. */
interface OlderPage {
  readonly events: Event[];
  /** The id of the event before which to read on. Absent: there are no older events. */
  readonly before: string | undefined;
}

/**
 * The last events of a session.
 *
 * It is read without a transaction. So what is computed from it may be stored only if the session still has the
 * revision of its first read.
 */
export class SessionTail {
  readonly #store: Store;
  readonly #key: CompositeSessionKey;
  readonly #call: Call;
  readonly #created: number;
  readonly #sizes: PageSizes;
  #events: Event[];
  #before: string | undefined;
  #limit: number;
  /** The places of the known markers, and of the first events that they name, by their ids. */
  #places = new Map<string, number>();
  /** The ids of these first events by their invocations. */
  #firstIds = new Map<string, string>();

  /** @param session with its last events */
  constructor(
    store: Store,
    key: CompositeSessionKey,
    { created, events }: ReadSession,
    sizes: PageSizes,
    call: Call,
  ) {
    this.#store = store;
    this.#key = key;
    this.#call = call;
    this.#created = created;
    this.#sizes = sizes;
    this.#events = events;
    this.#before = events[0]?.id;
    this.#limit = sizes.first;
  }

  /** Those that have been read, from the oldest to the newest. */
  get events(): readonly Event[] {
    return this.#events;
  }

  /**
   * Reads the markers, and back to the first event of an invocation.
   *
   * @returns that event; `undefined` if there is none
   */
  async reach(invocationId: string): Promise<Event | undefined> {
    const request = { kind: 'markers', key: this.#key, invocationId } as const;
    const markers = await this.#store.read(request, this.#call);
    if (markers === undefined) return undefined;
    this.#places = new Map(markers.events.map(({ id }, place) => [id, place]));
    // The first row of an invocation is its first event if it was asked for, or if a rewind names it.
    const rows = markers.events.toReversed();
    this.#firstIds = new Map(rows.map(({ id, invocationId }) => [invocationId, id]));
    const firstId = this.#firstIds.get(invocationId);
    return firstId === undefined ? undefined : this.readBackTo(({ id }) => id === firstId);
  }

  /** Reads back to the last event that is wanted. Returns `undefined` if there is none. */
  async readBackTo(isWanted: (event: Event) => boolean): Promise<Event | undefined> {
    let found = this.#events.findLast(isWanted);
    while (found === undefined && this.#before !== undefined) {
      const { events, before } = await this.#page(this.#before, (this.#limit *= 4));
      found = events.findLast(isWanted);
      this.#events = [...events, ...this.#events];
      this.#before = before;
    }
    return found;
  }

  /** Returns the invocations that rewinds from a place on name, and that begin before it. */
  olderInvocations(from: number): string[] {
    const later = this.#events.slice(from);
    const ids = new Set(later.map(({ id }) => id));
    return [...rewindTargets(later)].filter((target) => {
      const firstId = this.#firstIds.get(target);
      return firstId !== undefined && !ids.has(firstId);
    });
  }

  /** Yields the events before a place, the newest first. */
  eventsBefore(place: number): AsyncGenerator<Event, void, undefined> {
    return this.#readBack(place, () => undefined);
  }

  /** Yields the events that count before a place, the newest first. What a rewind has undone is not read. */
  async *activeBefore(place: number): AsyncGenerator<Event, void, undefined> {
    const events = this.#readBack(place, (event) => this.#firstUndone(event));
    for await (const event of events) {
      if (rewindTargetOf(event) === undefined) yield event;
    }
  }

  /** Returns the values that the session's own keys have before a place. */
  async valuesBefore(place: number, keys: readonly string[]): Promise<EarlierValues> {
    const missing = new Set(keys);
    const values: StateShape = {};
    for await (const event of this.activeBefore(place)) {
      applyDeltas(values, deltasOf([event]), (key) => isOwnKey(key) && missing.delete(key));
      if (missing.size === 0) return { values, unknownKeys: [] };
    }
    const initial = await readInitialState(this.#store, this.#key, this.#call);
    const known = initialValues(initial, [...missing]);
    applyDeltas(values, [known.values], (key) => missing.has(key));
    return { values, unknownKeys: known.unknownKeys };
  }

  /**
   * Yields the events before a place, the newest first.
   *
   * @param skippedTo returns the id of the event before which to go on after an event. Absent: before the event itself
   */
  async *#readBack(
    place: number,
    skippedTo: (event: Event) => string | undefined,
  ): AsyncGenerator<Event, void, undefined> {
    let events = this.#events.slice(0, place);
    let before = this.#before;
    let limit = this.#sizes.first;
    for (;;) {
      for (let event = events.pop(); event !== undefined; event = events.pop()) {
        yield event;
        const next = skippedTo(event);
        if (next === undefined) continue;
        const at = events.findIndex(({ id }) => id === next);
        if (at < 0) before = next;
        events = events.slice(0, Math.max(0, at));
      }
      if (before === undefined) return;
      ({ events, before } = await this.#page(before, (limit *= 4)));
    }
  }

  /** Returns the id of the first event that a rewind has undone; `undefined` if it is none or has undone nothing. */
  #firstUndone(event: Event): string | undefined {
    const target = rewindTargetOf(event);
    const firstId = target === undefined ? undefined : this.#firstIds.get(target);
    if (firstId === undefined) return undefined;
    const [first, rewind] = [this.#places.get(firstId)!, this.#places.get(event.id) ?? 0];
    return first < rewind ? firstId : undefined;
  }

  /** Reads a page, after a pause. @throws SessionError `stale_session` if the session has changed so that there is none */
  async #page(eventId: string, limit: number): Promise<OlderPage> {
    await nextTask();
    const page = { eventId, limit: Math.min(limit, this.#sizes.most) };
    const read = await readBefore(this.#store, this.#key, page, this.#call);
    if (read?.events === undefined || read.created !== this.#created) {
      const { sessionId } = this.#key;
      const message = `session "${sessionId}" has changed while it was read; get it again, then decide`;
      throw new SessionError('stale_session', message, { staleReason: 'other_revision' });
    }
    return { events: read.events, before: read.hasOlder === true ? read.firstId : undefined };
  }
}
