import type { Event } from '../../model/event/event.js';
import { idOf, type Pages } from './event_list.js';
import { keepElements } from './keep_elements.js';

/** The most pages of which one array of all events is made at once. */
const FEW_PAGES = 4;

/** The events that a snapshot shows: the stored ones, then those under way or failed. */
export class ShownEvents {
  readonly #stored: Pages;
  readonly #unsent: readonly Event[];
  readonly pages: Pages;
  #events: readonly Event[] | undefined;

  constructor(stored: Pages = [], unsent: readonly Event[] = []) {
    this.#stored = stored;
    this.#unsent = unsent;
    this.pages = unsent.length === 0 ? stored : [...stored, unsent];
  }

  /** Returns itself if nothing has changed since. */
  with(stored: Pages, unsent: readonly Event[]): ShownEvents {
    const kept = keepElements(this.#unsent, unsent, idOf);
    const isSame = this.#stored === stored && this.#unsent === kept;
    return isSame ? this : new ShownEvents(stored, kept);
  }

  /** Whether `events` takes microseconds. Most snapshots of a long session are never asked for it. */
  get areFew(): boolean {
    return this.pages.length <= FEW_PAGES;
  }

  get events(): readonly Event[] {
    return (this.#events ??= ([] as Event[]).concat(...this.pages));
  }
}
