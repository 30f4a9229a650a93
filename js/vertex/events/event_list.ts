/** Reads a session's events, page by page. */
import { hasStatus } from '../rest/failure.js';
import { apiTime, fromEventResource, type PostedEvent } from './event_resource.js';
import { listPages } from '../rest/list_pages.js';
import type { NewestFirst } from './newest_first.js';
import type { Query, Rest } from '../rest/rest.js';

export class EventList {
  readonly #rest: Rest;
  readonly #newestFirst: NewestFirst;

  constructor(rest: Rest, newestFirst: NewestFirst) {
    this.#rest = rest;
    this.#newestFirst = newestFirst;
  }

  /**
   * Those from a moment on, in order.
   *
   * @param url of the session
   * @param from microseconds; 0 is the beginning
   */
  async read(url: string, from: number): Promise<PostedEvent[]> {
    const events: PostedEvent[] = [];
    for await (const page of this.forwards(url, from)) events.push(...page);
    return events;
  }

  /** The same, a page at a time. */
  forwards(url: string, from: number): AsyncGenerator<PostedEvent[]> {
    return this.#pages(url, { filter: filterOf(from) });
  }

  /**
   * The same from the newest on, a page at a time, each in order: whoever has enough asks for no more. Where the
   * server knows no such order, all of them at once.
   *
   * @param pageSize how many are wanted in a page; the server may give fewer
   */
  async *backwards(url: string, from: number, pageSize?: number): AsyncGenerator<PostedEvent[]> {
    const filter = filterOf(from);
    let wasRefused = false;
    if (this.#newestFirst.isAsked()) {
      const query = {
        filter,
        orderBy: 'timestamp desc',
        pageSize: pageSize === undefined ? undefined : String(pageSize),
      };
      let isFirst = true;
      try {
        for await (const page of this.#pages(url, query)) {
          if (isFirst) this.#newestFirst.succeeded();
          isFirst = false;
          yield page.reverse();
        }
        return;
      } catch (error) {
        if (!isFirst || !hasStatus(error, 400)) throw error;
        wasRefused = true;
      }
    }
    const all = await this.read(url, from);
    if (wasRefused) this.#newestFirst.failed();
    yield all;
  }

  async *#pages(url: string, query: Query): AsyncGenerator<PostedEvent[]> {
    for await (const page of listPages(this.#rest, `${url}/events`, query, 'sessionEvents')) {
      yield page.map(fromEventResource);
    }
  }
}

/** Of ranges the reference of the API names this one alone. */
function filterOf(from: number): string | undefined {
  return from <= 0 ? undefined : `timestamp>="${apiTime(from)}"`;
}
