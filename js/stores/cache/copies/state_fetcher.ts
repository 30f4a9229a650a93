import { scopeOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { nameOf } from '../records/cache_key.js';
import { isRefusal } from '../records/failures.js';
import type { CacheContext } from './context.js';
import type { CopyLimits } from './copy_limits.js';
import { takeState } from './copy_writer.js';
import { forEachOf } from './for_each_of.js';
import { GroupedQueue } from './grouped_queue.js';

export interface StateFetcherParts extends CacheContext {
  readonly limits: CopyLimits;
}

/** Brings the states of users and apps up to date with the remote. */
export class StateFetcher {
  readonly #parts: StateFetcherParts;
  /** The fetches of each state, one after the other. */
  readonly queue = new GroupedQueue<StateOwner>(([owner]) => this.#fetch(owner));

  constructor(parts: StateFetcherParts) {
    this.#parts = parts;
  }

  /** Brings a state up to date. Calls that come before the fetch begins share it. */
  fetch(owner: StateOwner): Promise<void> {
    return this.queue.call(nameOf(owner), owner);
  }

  /**
   * As {@link fetch}, unless the remote refuses the request. `adk api_server` shows states only through sessions, and
   * another server may not let the user read the state of the app.
   */
  async fetchShown(owner: StateOwner): Promise<void> {
    await this.fetch(owner).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
    });
  }

  /** Fetches states again that have changed since a fetch began. */
  fetchOvertaken(owners: readonly StateOwner[]): Promise<void> {
    return forEachOf(owners, owners.length, (owner) => this.fetchShown(owner));
  }

  /** Whether a state was fetched, ever. */
  async has(owner: StateOwner): Promise<boolean> {
    const record = await this.#parts.data.read((transaction) => transaction.states.get(owner));
    return record?.isFetched === true;
  }

  async #fetch(owner: StateOwner): Promise<void> {
    const { remote, limits } = this.#parts;
    for (let isTaken = false; !isTaken;) {
      const began = await beginFetch(this.#parts);
      const text = await remote.ask((store, call) =>
        store.state({ scope: scopeOf(owner), ...owner }, call),
      );
      const state = JSON.stringify(JSON.parse(text) as StateShape);
      isTaken = await limits.store(undefined, began, (transaction) =>
        takeState(transaction, owner, state, began),
      );
    }
  }
}

/** Returns the last number that was drawn before a fetch. */
export async function beginFetch({
  data,
  remote,
}: Pick<CacheContext, 'data' | 'remote'>): Promise<number> {
  const { ended } = remote;
  const began = await data.read(({ counter }) => counter);
  ended.throwIfAborted();
  return began;
}
