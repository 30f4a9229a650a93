import type { CacheStore } from './cache_store.js';
import type { Fetch } from './copies/fetch.js';
import type { Lists } from './copies/lists.js';
import type { Unsent } from './copies/unsent.js';
import type { Records } from './records/records.js';
import { Turns } from './records/turns.js';
import type { Tabs } from './tabs.js';

interface ForgetParts {
  readonly tabs: Tabs;
  readonly records: Records;
  readonly unsent: Unsent;
  readonly fetch: Fetch;
  readonly lists: Lists;
  readonly store: CacheStore;
}

/** Erases the local data of the owner. Calls that come at the same time share one run. */
export class Forget {
  readonly #parts: ForgetParts;
  readonly #turns = new Turns(() => this.#erase());

  constructor(parts: ForgetParts) {
    this.#parts = parts;
  }

  run(): Promise<void> {
    return this.#turns.call('', undefined);
  }

  /** Forgets what this tab holds in memory of the local data. */
  clear(): void {
    const { unsent, records, store } = this.#parts;
    unsent.clear();
    records.forgetOwners();
    store.forgetCopies();
  }

  /** Called when this tab may have missed that another one has erased the local data. */
  async refresh(): Promise<void> {
    const { records, unsent } = this.#parts;
    if (await records.areErased()) this.clear();
    records.forgetOwners();
    await unsent.scan();
  }

  async #erase(): Promise<void> {
    const { tabs, records, unsent, fetch, lists } = this.#parts;
    // The other tabs first: what they store later would stay.
    tabs.post('forget');
    this.clear();
    const erased = await records.erase();
    // Work that had begun before may have stored something since.
    await Promise.all([fetch.turns.settled(), lists.turns.settled(), unsent.pins.settled()]);
    await records.erase(erased);
    this.clear();
    tabs.post('forget');
  }
}
