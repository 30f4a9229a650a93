import type { Event } from '../../model/event/event.js';
import { keepEqual } from './keep_equal.js';

/** The most events of a page. A new event copies the last page and the array of pages. */
const PAGE = 256;

/** Pages of events, in append order. A page that has not changed is the same array. */
export type Pages = readonly (readonly Event[])[];

/**
 * The events of a session from some place to its end. They lie in pages, which are never changed: to copy all events
 * of a long session for each new one would take milliseconds.
 */
export class EventList {
  #pages: (readonly Event[])[] = [];
  /** The number of the page of each event. Numbers stay when older pages are put before the first. */
  readonly #pageNumbers = new Map<string, number>();
  #firstNumber = 0;
  #length = 0;

  constructor(events: readonly Event[] = []) {
    this.prepend(events);
  }

  get length(): number {
    return this.#length;
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

  has(id: string): boolean {
    return this.#pageNumbers.has(id);
  }

  get(id: string): Event | undefined {
    return this.#pageOf(id)?.find((event) => event.id === id);
  }

  append(event: Event): void {
    const pages = [...this.#pages];
    const last = pages.at(-1);
    if (last === undefined || last.length >= PAGE) pages.push([event]);
    else pages[pages.length - 1] = [...last, event];
    this.#pages = pages;
    this.#pageNumbers.set(event.id, this.#firstNumber + pages.length - 1);
    this.#length += 1;
  }

  /** Puts an event in place of the one with its id. Does nothing if they are equal. */
  replace(event: Event): void {
    const page = this.#pageOf(event.id);
    if (page === undefined) return;
    const replaced = page.map((old) => (old.id === event.id ? keepEqual(old, event) : old));
    if (replaced.every((kept, position) => kept === page[position])) return;
    this.#pages = this.#pages.map((other) => (other === page ? replaced : other));
  }

  /** Puts older events before the first. Events that are there already are left out. */
  prepend(older: readonly Event[]): void {
    const added = older.filter(({ id }) => !this.has(id));
    const pages: Event[][] = [];
    for (let end = added.length; end > 0; end -= PAGE) {
      const page = added.slice(Math.max(0, end - PAGE), end);
      pages.unshift(page);
      this.#firstNumber -= 1;
      for (const { id } of page) this.#pageNumbers.set(id, this.#firstNumber);
    }
    this.#pages = [...pages, ...this.#pages];
    this.#length += added.length;
  }

  /** Returns a list of these events, with the same objects for those that have not changed; itself if none has. */
  withEvents(events: readonly Event[]): EventList {
    const kept = events.map((event) => keepEqual(this.get(event.id), event));
    let position = 0;
    let isSame = kept.length === this.#length;
    for (const page of this.#pages) {
      if (!isSame) break;
      isSame = page.every((event) => event === kept[position++]);
    }
    return isSame ? this : new EventList(kept);
  }

  #pageOf(id: string): readonly Event[] | undefined {
    const number = this.#pageNumbers.get(id);
    return number === undefined ? undefined : this.#pages[number - this.#firstNumber];
  }
}
