/** The stored events that an append needs: the newest ones, and older ones if necessary. */
import { LOOK_BACK_MICROS } from '../../../values/python/micros.js';
import type { EventRow } from '../../../core/storage/rows.js';
import type { ListedEvents } from './event_list.js';
import type { PostedEvent } from './event_resource.js';
import { toEventRows } from './event_rows.js';

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
