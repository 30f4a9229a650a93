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
  #pages: readonly (readonly Event[])[];
  /**
   * The number of the page of each event. Numbers stay when older pages are put before the first. Absent until an event
   * is looked for: many lists are shown once.
   */
  #pageNumbers: Map<string, number> | undefined;
  #firstNumber = 0;
  #length: number;

  constructor(events: readonly Event[] = []) {
    this.#pages = pagesOf(events);
    this.#length = events.length;
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
    return this.#numberOf(id) !== undefined;
  }

  get(id: string): Event | undefined {
    return this.#pageOf(id)?.find((event) => event.id === id);
  }

  /** Returns the events from the one with this id on; none if it is not there. */
  from(id: string): readonly Event[] {
    const number = this.#numberOf(id);
    if (number === undefined) return [];
    const events = this.#pages.slice(number - this.#firstNumber).flat();
    return events.slice(events.findIndex((event) => event.id === id));
  }

  append(event: Event): void {
    const pages = [...this.#pages];
    const last = pages.at(-1);
    if (last === undefined || last.length >= PAGE) pages.push([event]);
    else pages[pages.length - 1] = [...last, event];
    this.#pages = pages;
    this.#pageNumbers?.set(event.id, this.#firstNumber + pages.length - 1);
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
    const pages = pagesOf(added);
    this.#firstNumber -= pages.length;
    if (this.#pageNumbers !== undefined) number(pages, this.#firstNumber, this.#pageNumbers);
    this.#pages = [...pages, ...this.#pages];
    this.#length += added.length;
  }

  /** Returns a list of these events, with the same objects for those that have not changed; itself if none has. */
  withEvents(events: readonly Event[]): EventList {
    if (this.#length === 0) return events.length === 0 ? this : new EventList(events);
    const kept = events.map((event) => keepEqual(this.get(event.id), event));
    let position = 0;
    const isNext = (event: Event): boolean => event === kept[position++];
    const isSame = kept.length === this.#length && this.#pages.every((page) => page.every(isNext));
    return isSame ? this : new EventList(kept);
  }

  #pageOf(id: string): readonly Event[] | undefined {
    const number = this.#numberOf(id);
    return number === undefined ? undefined : this.#pages[number - this.#firstNumber];
  }

  #numberOf(id: string): number | undefined {
    this.#pageNumbers ??= number(this.#pages, this.#firstNumber, new Map());
    return this.#pageNumbers.get(id);
  }
}

/** Cuts events into pages. The last page is full, so that older events fill pages of their own. */
function pagesOf(events: readonly Event[]): (readonly Event[])[] {
  const pages: (readonly Event[])[] = [];
  for (let end = events.length; end > 0; end -= PAGE) {
    pages.unshift(events.slice(Math.max(0, end - PAGE), end));
  }
  return pages;
}

/** Notes the number of the page of each event. */
function number(pages: Pages, first: number, numbers: Map<string, number>): Map<string, number> {
  for (const [position, page] of pages.entries()) {
    for (const { id } of page) numbers.set(id, first + position);
  }
  return numbers;
}
