/** What an append looks at of the events that are there: the newest ones, and further back where it must. */
import type { EventRow } from '../../storage/adapter.js';
import type { EventList } from './event_list.js';
import type { PostedEvent } from './event_resource.js';
import { fold } from './fold.js';

/**
 * How far before a handle's revision, in microseconds, others may have set the times of events that they
 * appended later: as far as clocks and the making of an event are apart.
 */
const LOOK_BACK = 10_000_000;

/** So many of the newest, where there is no handle to go by. */
const FEW = 5;

export class RecentEvents {
  readonly #list: EventList;
  readonly #url: string;
  #posted: readonly PostedEvent[] = [];
  /** All that was posted at this moment or later is there. */
  #from = Infinity;

  /** @param url of the session */
  constructor(list: EventList, url: string) {
    this.#list = list;
    this.#url = url;
  }

  /** @param since the revision of a handle; `undefined`, if nobody wants to know what came since */
  async read(since: number | undefined): Promise<void> {
    if (since === undefined) return this.#readFew();
    const from = Math.max(0, since - LOOK_BACK);
    this.#posted = await this.#list.read(this.#url, from);
    this.#from = from;
  }

  /** Sees to it that the newest is there, if there is one. Nothing of ours is older than its session. */
  async readNewest(created: number): Promise<void> {
    if (this.#posted.length === 0 && this.#from > created) await this.#readFew();
  }

  async #readFew(): Promise<void> {
    for await (const page of this.#list.backwards(this.#url, 0, FEW)) {
      const [first] = page;
      if (first === undefined) continue;
      this.#posted = page;
      // Another one may have been posted at the same moment as the first.
      this.#from = first.posted + 1;
      return;
    }
    this.#from = 0;
  }

  /**
   * Looks further back for events with these ids.
   *
   * @param from how far, in microseconds; 0 is to the beginning
   * @returns whether anything was read: rows may have come or changed then, also where none of these was found
   */
  async lookBack(ids: readonly string[], from: number): Promise<boolean> {
    const missing = new Set(ids);
    for (const { id } of this.#posted) missing.delete(id);
    if (missing.size === 0 || from >= this.#from) return false;
    const posted: PostedEvent[][] = [];
    for await (const page of this.#list.backwards(this.#url, from)) {
      posted.unshift(page);
      for (const { id } of page) missing.delete(id);
      // All are further back than what was there before, which has come again.
      if (missing.size === 0) break;
    }
    this.#posted = posted.flat();
    return true;
  }

  rows(): EventRow[] {
    return fold(this.#posted);
  }
}
