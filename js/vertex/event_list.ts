/** Reads a session's events, page by page. */
import { hasStatus } from './failure.js';
import { apiTime, fromEventResource, type PostedEvent } from './event_resource.js';
import type { Json, Query, Rest } from './rest.js';

export class EventList {
  readonly #rest: Rest;
  /** Whether the server lists events from the newest on; what it says of that holds for all sessions. */
  #isOrdered = true;

  constructor(rest: Rest) {
    this.#rest = rest;
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
    if (this.#isOrdered) {
      const query = {
        filter,
        orderBy: 'timestamp desc',
        pageSize: pageSize === undefined ? undefined : String(pageSize),
      };
      let isFirst = true;
      try {
        for await (const page of this.#pages(url, query)) {
          isFirst = false;
          yield page.reverse();
        }
        return;
      } catch (error) {
        if (!isFirst || !hasStatus(error, 400)) throw error;
      }
    }
    const all = await this.read(url, from);
    this.#isOrdered = false;
    yield all;
  }

  async *#pages(url: string, query: Query): AsyncGenerator<PostedEvent[]> {
    for await (const page of listPages(this.#rest, `${url}/events`, query, 'sessionEvents')) {
      yield page.map(fromEventResource);
    }
  }
}

/** The pages of a list. */
export async function* listPages(
  rest: Rest,
  url: string,
  query: Query,
  field: string,
): AsyncGenerator<Json[]> {
  let pageToken: string | undefined;
  do {
    const page = await rest.get(url, { ...query, pageToken });
    const items: unknown = page[field];
    yield Array.isArray(items) ? (items as Json[]) : [];
    const next = page.nextPageToken;
    pageToken = typeof next === 'string' && next !== '' ? next : undefined;
  } while (pageToken !== undefined);
}

/** Of ranges the reference of the API names this one alone. */
function filterOf(from: number): string | undefined {
  return from <= 0 ? undefined : `timestamp>="${apiTime(from)}"`;
}
