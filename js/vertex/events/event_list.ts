/** Reads a session's events, page by page. */
import { hasStatus } from '../../http/http_errors.js';
import { apiTime, fromEventResource, type PostedEvent } from './event_resource.js';
import type { Query } from '../../http/exchange.js';
import type { Rest } from '../rest/rest.js';

/** Maximum number of reads without the order before it is tried again. */
const MAX_SKIPPED_READS = 64;

/**
 * Decides whether to ask the server for the newest events first. A refusal may have had another cause, so the
 * order is tried again. After refusals in a row it is skipped for 0, 1, 2, 4, 8, … reads.
 */
export class NewestFirstSupport {
  #refusals = 0;
  #readsToSkip = 0;

  /** Returns whether this read asks for the order, and counts a skipped one. */
  shouldTry(): boolean {
    if (this.#readsToSkip === 0) return true;
    this.#readsToSkip -= 1;
    return false;
  }

  recordSuccess(): void {
    this.#refusals = 0;
  }

  /** Records a refusal. Call it only if the same list without the order succeeded. */
  recordRefusal(): void {
    this.#readsToSkip = Math.min(MAX_SKIPPED_READS, Math.floor(2 ** (this.#refusals - 1)));
    this.#refusals += 1;
  }
}

export class EventList {
  readonly #rest: Rest;
  readonly #newestFirst: NewestFirstSupport;

  constructor(rest: Rest, newestFirst: NewestFirstSupport) {
    this.#rest = rest;
    this.#newestFirst = newestFirst;
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
    const filter = timeFilter(from);
    let wasRefused = false;
    if (this.#newestFirst.shouldTry()) {
      const query = {
        filter,
        orderBy: 'timestamp desc',
        pageSize,
      };
      let isFirst = true;
      try {
        for await (const page of this.#pages(url, query)) {
          if (isFirst) this.#newestFirst.recordSuccess();
          isFirst = false;
          yield page.reverse();
        }
        return;
      } catch (error) {
        if (!isFirst || !hasStatus(error, 400)) throw error;
        wasRefused = true;
      }
    }
    const allEvents = await this.read(url, from);
    if (wasRefused) this.#newestFirst.recordRefusal();
    yield allEvents;
  }

  async *#pages(url: string, query: Query): AsyncGenerator<PostedEvent[]> {
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
