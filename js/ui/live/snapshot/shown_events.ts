import type { Event } from '../../../values/model/event/event.js';
import type { Pages } from '../../../service/runs/run_view.js';
import { idOf } from './event_list.js';
import { keepElements } from './keep_elements.js';

/** The events that a snapshot shows: the stored ones, then those under way or failed. */
export class ShownEvents {
  readonly #stored: Pages;
  readonly #unsent: readonly Event[];
  readonly pages: Pages;
  readonly events: readonly Event[];

  constructor(stored: Pages = [], unsent: readonly Event[] = []) {
    this.#stored = stored;
    this.#unsent = unsent;
    this.pages = unsent.length === 0 ? stored : [...stored, unsent];
    this.events = ([] as Event[]).concat(...this.pages);
  }

  /** Returns itself if nothing has changed since. */
  with(stored: Pages, unsent: readonly Event[]): ShownEvents {
    const kept = keepElements(this.#unsent, unsent, idOf);
    const isSame = this.#stored === stored && this.#unsent === kept;
    return isSame ? this : new ShownEvents(stored, kept);
  }
}
