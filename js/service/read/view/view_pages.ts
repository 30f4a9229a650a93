/** Pages of a view, computed from the whole history. */
import { positionsInPairs } from '../../../core/history/calls/call_pairs.js';
import type { Event } from '../../../values/model/event/event.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import type { ReadSession } from '../../../core/storage/backend.js';
import { viewOfRead } from './older_stubs.js';

/** A page of a view. */
export interface ViewPage {
  readonly events: Event[];
  readonly hasOlder: boolean;
  /** The ids of the first and the last anchor, which the cursors of the page name. Absent if there is none. */
  readonly firstId: string | undefined;
  readonly lastId: string | undefined;
  /** How many events the view has; `undefined` if the read lacks older events. */
  readonly eventCount: number | undefined;
}

/**
 * Divides a view into pages.
 *
 * Cursors name stored events, so that they stay valid whatever the view is. Each event of the view therefore has an
 * anchor, the index of a stored event. An event that is shown where it is stored is its own anchor. A summary is not
 * stored, and a call that came back is shown elsewhere: the anchor of both is the stored event before the next one that
 * is shown in its own place. Events with the same anchor stay on one page, and for models a response with its call. So a
 * page may be longer than its limit.
 */
export class ViewPages {
  readonly #stored: readonly Event[];
  readonly #indices: ReadonlyMap<string, number>;
  readonly #shown: readonly Event[];
  /** The anchor of each event that is shown; −1: it comes before all stored events. */
  readonly #anchors: readonly number[];
  /** The positions between a call and its response. */
  readonly #pairPositions: ReadonlySet<number>;

  /** Whether the session has older events than the read. */
  readonly #hasOlder: boolean;

  constructor(read: ReadSession, view: ComputedView) {
    const stored = read.events;
    const { viewed, withoutStubs } = viewOfRead(read, view);
    this.#stored = stored;
    this.#hasOlder = read.olderInvocations !== undefined;
    this.#indices = new Map(stored.map(({ id }, index) => [id, index]));
    this.#shown = withoutStubs(viewed.events);
    let previous = -1;
    const ownAnchors = this.#shown.map(({ id }) => {
      const index = this.#indices.get(id) ?? -1;
      if (index <= previous) return undefined;
      previous = index;
      return index;
    });
    const anchors: number[] = [];
    let next = stored.length;
    for (const own of ownAnchors.reverse()) {
      next = own ?? next;
      anchors.push(own ?? next - 1);
    }
    this.#anchors = anchors.reverse();
    this.#pairPositions = new Set(view === 'model' ? positionsInPairs(this.#shown) : []);
  }

  /** Returns the first events after a stored event, or of all. `undefined` if no such event is stored. */
  after(eventId: string | undefined, limit: EventCount): ViewPage | undefined {
    const index = eventId === undefined ? -1 : this.#indices.get(eventId);
    if (index === undefined) return undefined;
    const start = eventId === undefined ? 0 : this.#findAnchor((anchor) => anchor > index);
    const { length } = this.#shown;
    let end = limit === 'all' ? length : Math.min(start + limit, length);
    while (end > start && end < length && this.#isBoundToPrevious(end)) end += 1;
    return this.#page(start, end, eventId);
  }

  /**
   * Returns the last events before an event, or of all. `undefined` if no such event is stored or shown.
   *
   * @param eventId may be that of a summary
   * @param isShown whether the page ends where the view shows the event, and not where it is stored. The two differ for
   *   a call that came back
   */
  before(eventId: string | undefined, limit: EventCount, isShown: boolean): ViewPage | undefined {
    const end = this.#endBefore(eventId, isShown);
    if (end === undefined) return undefined;
    let start = limit === 'all' ? 0 : Math.max(0, end - limit);
    while (start > 0 && this.#isBoundToPrevious(start)) start -= 1;
    return this.#page(start, end, undefined);
  }

  #endBefore(eventId: string | undefined, isShown: boolean): number | undefined {
    if (eventId === undefined) return this.#shown.length;
    const index = this.#indices.get(eventId);
    const position = this.#shown.findIndex(({ id }) => id === eventId);
    if (position >= 0 && (isShown || index === undefined)) return position;
    return index === undefined ? undefined : this.#findAnchor((anchor) => anchor >= index);
  }

  /** @param lastIdIfEmpty the `lastId` of a page without events */
  #page(start: number, end: number, lastIdIfEmpty: string | undefined): ViewPage {
    const idAt = (position: number): string | undefined =>
      this.#stored[this.#anchors[position] ?? -1]?.id;
    return {
      events: this.#shown.slice(start, end),
      // An empty page has no cursor to go on from.
      hasOlder: start > 0 || (this.#hasOlder && start < end),
      firstId: start < end ? idAt(start) : undefined,
      lastId: start < end ? idAt(end - 1) : lastIdIfEmpty,
      eventCount: this.#hasOlder ? undefined : this.#shown.length,
    };
  }

  /** Returns the position of the first event with such an anchor; the end of the view if there is none. */
  #findAnchor(isWanted: (anchor: number) => boolean): number {
    const position = this.#anchors.findIndex(isWanted);
    return position < 0 ? this.#anchors.length : position;
  }

  /** Returns whether an event must be on the page of the previous one. No cursor can name the anchor −1. */
  #isBoundToPrevious(position: number): boolean {
    const previous = this.#anchors[position - 1];
    const isInPair = this.#pairPositions.has(position);
    return isInPair || previous === -1 || previous === this.#anchors[position];
  }
}
