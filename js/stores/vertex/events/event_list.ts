/** Reads a session's events, page by page. */
import { hasStatus } from '../../http/http_errors.js';
import { apiTime, fromEventResource, type PostedEvent } from './event_resource.js';
import type { QueryParameters } from '../../http/exchange.js';
import type { Rest } from '../rest/rest.js';

export class ListedEvents {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /**
   * Reads the events from a given time on, in order.
   *
   * @param url the session's URL
   * @param from time in microseconds; 0 reads from the beginning
   */
  async read(url: string, from: number): Promise<PostedEvent[]> {
    const events: PostedEvent[] = [];
    for await (const page of this.forwards(url, from)) events.push(...page);
    return events;
  }

  /** Yields the same events page by page. */
  forwards(url: string, from: number): AsyncGenerator<PostedEvent[]> {
    return this.#pages(url, { filter: timeFilter(from) });
  }

  /**
   * Yields the same events page by page from the newest page on; each page is in ascending order. A caller
   * that has enough stops iterating. If the server does not support this order, it yields all events at once.
   *
   * @param pageSize the requested page size; the server may return fewer
   */
  async *backwards(url: string, from: number, pageSize?: number): AsyncGenerator<PostedEvent[]> {
    const query = { filter: timeFilter(from), orderBy: 'timestamp desc', pageSize };
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
    yield await this.read(url, from);
  }

  async *#pages(url: string, query: QueryParameters): AsyncGenerator<PostedEvent[]> {
    for await (const page of this.#rest.pages(`${url}/events`, query, 'sessionEvents')) {
      yield page.map(fromEventResource);
    }
  }
}

/**
 * Returns the filter for events from a given time on, the only range filter that the API's reference
 * documents.
 */
function timeFilter(from: number): string | undefined {
  return from <= 0 ? undefined : `timestamp>="${apiTime(from)}"`;
}
