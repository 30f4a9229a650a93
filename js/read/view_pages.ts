/** Pages of a view, computed from the whole history. */
import { viewOf } from '../history/view.js';
import type { Event } from '../model/event/event.js';
import type { HistoryView } from '../model/session.js';

/** A page of a view. */
export interface ViewPage {
  readonly events: Event[];
  readonly hasOlder: boolean;
  /** The stored events at which the page begins and ends; `undefined` without one. */
  readonly firstId: string | undefined;
  readonly lastId: string | undefined;
  /** How many events the view has. */
  readonly eventCount: number;
}

/**
 * The events of a view with their places. A place is the index of a stored event: cursors name stored events, so that
 * they stay valid whatever the view is. A summary, and a call that came back, have the place of the stored event before
 * the next one that is shown.
 * Events of one place stay on one page, which may thus be longer than its limit.
 */
export class ViewPages {
  readonly #stored: readonly Event[];
  readonly #indices: ReadonlyMap<string, number>;
  readonly #shown: readonly Event[];
  readonly #places: number[];

  constructor(stored: Event[], view: Exclude<HistoryView, 'raw'>) {
    this.#stored = stored;
    this.#indices = new Map(stored.map(({ id }, index) => [id, index]));
    this.#shown = viewOf(stored, view).events;
    let last = -1;
    const ownPlaces = this.#shown.map(({ id }) => {
      const index = this.#indices.get(id) ?? -1;
      if (index <= last) return undefined;
      last = index;
      return index;
    });
    let next = stored.length;
    this.#places = ownPlaces.reverse().map((place) => {
      next = place ?? next;
      return place ?? next - 1;
    });
    this.#places.reverse();
  }

  /** Returns the first events after an event, or of all. `undefined` if no such event is stored. */
  after(eventId: string | undefined, limit: number): ViewPage | undefined {
    const index = eventId === undefined ? -1 : this.#indices.get(eventId);
    if (index === undefined) return undefined;
    const start = eventId === undefined ? 0 : this.#countUntil((place) => place > index);
    let end = Math.min(start + limit, this.#shown.length);
    while (end > start && end < this.#shown.length && this.#isTogether(end)) end += 1;
    return this.#page(start, end, eventId);
  }

  /**
   * Returns the last events before an event, or of all. `undefined` if no such event is stored or shown.
   *
   * @param eventId also that of a summary
   * @param isShown whether the page ends where the event is shown. A call that came back is stored earlier
   */
  before(eventId: string | undefined, limit: number, isShown: boolean): ViewPage | undefined {
    const end = this.#endBefore(eventId, isShown);
    if (end === undefined) return undefined;
    let start = Math.max(0, end - limit);
    while (start > 0 && this.#isTogether(start)) start -= 1;
    return this.#page(start, end, undefined);
  }

  #endBefore(eventId: string | undefined, isShown: boolean): number | undefined {
    if (eventId === undefined) return this.#shown.length;
    const index = this.#indices.get(eventId);
    const position = this.#shown.findIndex(({ id }) => id === eventId);
    if (position >= 0 && (isShown || index === undefined)) return position;
    return index === undefined ? undefined : this.#countUntil((place) => place >= index);
  }

  #page(start: number, end: number, otherwise: string | undefined): ViewPage {
    const idAt = (position: number): string | undefined =>
      this.#stored[this.#places[position] ?? -1]?.id;
    return {
      events: this.#shown.slice(start, end),
      hasOlder: start > 0,
      firstId: start < end ? idAt(start) : undefined,
      lastId: start < end ? idAt(end - 1) : otherwise,
      eventCount: this.#shown.length,
    };
  }

  /** Returns how many events come before the first one with such a place. */
  #countUntil(isReached: (place: number) => boolean): number {
    const position = this.#places.findIndex(isReached);
    return position < 0 ? this.#places.length : position;
  }

  /** Returns whether an event belongs to the page of the one before. A place before all stored events has no cursor. */
  #isTogether(position: number): boolean {
    const before = this.#places[position - 1];
    return before === -1 || before === this.#places[position];
  }
}
