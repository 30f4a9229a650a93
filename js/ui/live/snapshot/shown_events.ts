/** The events of a snapshot, in pages. */
import { isSummarised } from '../../../values/model/event/markers.js';
import type { Pages } from '../../../service/runs/run_display.js';
import { keepEqual } from '../../../values/json/equal.js';
import type { Event } from '../../../values/model/event/event.js';
import { pageMessageOf } from '../../../values/model/event/metadata.js';
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
    this.events = eventsIn(this.pages);
  }

  /** Returns itself if nothing has changed since. */
  with(stored: Pages, unsent: readonly Event[]): ShownEvents {
    const kept = keepElements(this.#unsent, unsent, idOf);
    const isSame = this.#stored === stored && this.#unsent === kept;
    return isSame ? this : new ShownEvents(stored, kept);
  }
}

/** Returns all events of pages, in an array of the caller's. `flat` takes 20 times as long. */
export function eventsIn(pages: Pages): readonly Event[] {
  return ([] as Event[]).concat(...pages);
}

/** The most events of a page. A new event copies the last page and the array of pages. */
const PAGE = 256;

/**
 * The events of a session from some place to its end. They lie in pages, which are never changed: to copy all events
 * of a long session for each new one would take milliseconds.
 */
export class EventList {
  #pages: Pages;
  /** The events by id. Absent until one is looked for: many lists are shown once. */
  #byId: Map<string, Event> | undefined;
  #summarised: ReadonlySet<string>;

  constructor(events: readonly Event[] = [], summarised: ReadonlySet<string> = new Set()) {
    this.#pages = pagesOf(events);
    this.#summarised = summarised;
  }

  /** The ids of the events that a summary stands for. Never changed, but replaced. */
  get summarised(): ReadonlySet<string> {
    return this.#summarised;
  }

  get length(): number {
    return this.#pages.reduce((length, page) => length + page.length, 0);
  }

  get pages(): Pages {
    return this.#pages;
  }

  get first(): Event | undefined {
    return this.#pages[0]?.[0];
  }

  get last(): Event | undefined {
    return this.#pages.at(-1)?.at(-1);
  }

  /** Returns the event with an id, or the message that a page has asked under it; see {@link pageMessageOf}. */
  get(id: string): Event | undefined {
    if (this.#byId === undefined) {
      this.#byId = new Map();
      for (const page of this.#pages) page.forEach((event) => this.#index(event));
    }
    return this.#byId.get(id);
  }

  #index(event: Event): void {
    const asked = pageMessageOf(event);
    if (asked !== undefined && this.#byId?.has(asked) === false) this.#byId.set(asked, event);
    this.#byId?.set(event.id, event);
  }

  /** Returns the events from the first one on that has one of these ids; none if none is there. */
  from(ids: ReadonlySet<string>): readonly Event[] {
    const events = eventsIn(this.#pages);
    const position = events.findIndex(({ id }) => ids.has(id));
    return position < 0 ? [] : events.slice(position);
  }

  append(event: Event): void {
    const pages = [...this.#pages];
    const last = pages.at(-1);
    if (last === undefined || last.length >= PAGE) pages.push([event]);
    else pages[pages.length - 1] = [...last, event];
    this.#pages = pages;
    this.#index(event);
  }

  /** Puts an event in place of the one with its id. Does nothing if they are equal. */
  replace(event: Event): void {
    const old = this.get(event.id);
    const next = keepEqual(old, event);
    if (old === undefined || next === old) return;
    this.#pages = this.#pages.map((page) =>
      page.includes(old) ? page.map((other) => (other === old ? next : other)) : page,
    );
    this.#byId?.set(event.id, next);
  }

  /** Puts older events before the first. Events that are there already are left out. */
  prepend(older: readonly Event[]): void {
    const added = older.filter(({ id }) => this.get(id) === undefined);
    this.#pages = [...pagesOf(added), ...this.#pages];
    for (const event of added) this.#index(event);
    const ids = summarisedIn(added);
    if (ids.size > 0) this.#summarised = new Set([...ids, ...this.#summarised]);
  }

  /** Returns a list of these events, with the same objects for those that have not changed; itself if none has. */
  withEvents(events: readonly Event[]): EventList {
    const shown = eventsIn(this.#pages);
    const kept = keepElements(shown, events, idOf);
    const read = summarisedIn(events);
    const isSame = [...read].join() === [...this.#summarised].join();
    if (kept === shown && isSame) return this;
    return new EventList(kept, isSame ? this.#summarised : read);
  }
}

function summarisedIn(events: readonly Event[]): ReadonlySet<string> {
  return new Set(events.filter(isSummarised).map(idOf));
}

function idOf({ id }: Event): string {
  return id;
}

/** Cuts events into pages. The last page is full, so that older events fill pages of their own. */
function pagesOf(events: readonly Event[]): (readonly Event[])[] {
  const pages: (readonly Event[])[] = [];
  for (let end = events.length; end > 0; end -= PAGE) {
    pages.unshift(events.slice(Math.max(0, end - PAGE), end));
  }
  return pages;
}
