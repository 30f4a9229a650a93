/** The events of a session as the API lists them, and its newest ones. */
import type { EventRow } from '../../../core/storage/rows.js';
import { LOOK_BACK_MICROS } from '../../../values/python/micros.js';
import type { QueryParameters } from '../../http/exchange.js';
import { hasStatus } from '../../http/http_errors.js';
import type { Rest } from '../rest/rest.js';
import { apiTime, fromEventResource, type PostedEvent } from './event_resource.js';

// Reads a session's events, page by page.

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

// Computes a session's events from everything that was posted. A posted event cannot be changed. So a new
// version is posted as one more event, and replaces the first one with its id.

/**
 * Returns the storage rows, ordered by `seq`.
 *
 * `seq` is the position of the first version of an event, and `revision` that of its last version. If other
 * clients posted several events at the same microsecond, each is placed one microsecond after the one before.
 *
 * @param posted in the server's order
 */
export function toEventRows(posted: readonly PostedEvent[]): EventRow[] {
  const rows = new Map<string, EventRow>();
  let last = -1;
  for (const { id, postedAt, firstPostedAt, timestamp, text } of posted) {
    last = Math.max(last + 1, postedAt);
    const seq = rows.get(id)?.seq ?? firstPostedAt ?? last;
    rows.set(id, { id, seq, revision: last, timestamp, text });
  }
  return [...rows.values()].sort((one, other) => one.seq - other.seq);
}

/** Returns the highest revision of the rows; `undefined` if there are none. */
export function latestRevision(rows: readonly EventRow[]): number | undefined {
  return rows.reduce<number | undefined>(
    (newest, { revision }) => Math.max(newest ?? 0, revision),
    undefined,
  );
}

// The stored events that an append needs: the newest ones, and older ones if necessary.

/** Number of the newest events to read if there is no handle revision. */
const NEWEST_COUNT = 5;

export class RecentEvents {
  readonly #list: ListedEvents;
  readonly #url: string;
  #posted: readonly PostedEvent[] = [];
  /** All events posted at this time or later are loaded. */
  #from = Infinity;

  /** @param url the session's URL */
  constructor(list: ListedEvents, url: string) {
    this.#list = list;
    this.#url = url;
  }

  /**
   * Reads the events that changed since a revision.
   *
   * @param since the revision of a handle; `undefined` if the caller needs no changes: then it reads the
   *   newest few
   */
  async read(since: number | undefined): Promise<void> {
    if (since === undefined) return this.#readNewestPage();
    const from = Math.max(0, since - LOOK_BACK_MICROS);
    this.#posted = await this.#list.read(this.#url, from);
    this.#from = from;
  }

  /**
   * Makes sure that the newest event is loaded, if there is one. No event of this package is older than its
   * session, so a read that went back to `created` has found it.
   */
  async readNewest(created: number): Promise<void> {
    if (this.#posted.length === 0 && this.#from > created) await this.#readNewestPage();
  }

  async #readNewestPage(): Promise<void> {
    for await (const page of this.#list.backwards(this.#url, 0, NEWEST_COUNT)) {
      const [first] = page;
      if (first === undefined) continue;
      this.#posted = page;
      // Another event may have been posted at the same time as the first.
      this.#from = first.postedAt + 1;
      return;
    }
    this.#from = 0;
  }

  /**
   * Reads further back for events with these ids.
   *
   * @param from how far back, in microseconds; 0 is the beginning
   * @returns whether it read anything: then rows may be new or changed, even if no id was found
   */
  async lookBack(ids: readonly string[], from: number): Promise<boolean> {
    const missing = new Set(ids);
    for (const { id } of this.#posted) missing.delete(id);
    if (missing.size === 0 || from >= this.#from) return false;
    const posted: PostedEvent[][] = [];
    for await (const page of this.#list.backwards(this.#url, from)) {
      posted.unshift(page);
      for (const { id } of page) missing.delete(id);
      // The missing events are older than those loaded before, so the pages read here include these again.
      if (missing.size === 0) break;
    }
    this.#posted = posted.flat();
    return true;
  }

  rows(): EventRow[] {
    return toEventRows(this.#posted);
  }
}
