import type { Event } from '../../../values/model/event/event.js';
import type { Pages } from '../../../service/runs/run_view.js';
import { idOf } from './event_list.js';
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

  /**
   * Returns a snapshot with the member `events`. A long array takes more than microseconds, so it is made at the first
   * use: most snapshots of a long session are never asked for it.
   */
  addTo<Snapshot extends object>(
    snapshot: Snapshot,
  ): Snapshot & { readonly events: readonly Event[] } {
    const member =
      this.pages.length <= FEW_PAGES
        ? { value: this.#getEvents(), writable: true }
        : { get: this.#getEvents };
    // Proxies of Svelte and Vue return another object for it, which JavaScript forbids for a member that cannot change.
    return Object.defineProperty(snapshot, 'events', {
      ...member,
      enumerable: true,
      configurable: true,
    }) as Snapshot & { readonly events: readonly Event[] };
  }

  readonly #getEvents = (): readonly Event[] =>
    (this.#events ??= ([] as Event[]).concat(...this.pages));
}
