import type { GivenService } from '../../core/call/given_service.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { ListenOptions } from '../../values/model/notice.js';
import type { FindRequest, SearchHit } from '../../values/model/search.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { searchOf } from './found_sessions.js';
import { ReadingStore } from './reading_store.js';
import type { LiveStore } from './types.js';

/** What {@link liveSearch} looks for. A query without a letter or a digit finds nothing. */
export type LiveSearchRequest = Omit<FindRequest, 'signal' | 'cursor'>;

/** The hits of a search as they are now. */
export interface LiveSearchSnapshot {
  /**
   * `loading`: nothing has been read yet. `ready`. `failed`: the first search failed, see `error`. `forgotten`: a cache
   * has forgotten its local data; `reload` searches again.
   */
  readonly status: 'loading' | 'ready' | 'failed' | 'forgotten';
  /** Why the last search failed, until one succeeds. What was found before stays. */
  readonly error: unknown;
  /** At most `limit` hits. */
  readonly hits: readonly SearchHit[];
  /**
   * Whether all texts were searched, as `isComplete` of a search. While sessions are still being read, the store searches
   * again when they are read; on a server, `reload` does.
   */
  readonly isComplete: boolean;
}

/** A search that is shown. It searches again when a session of the user changes, or when all sessions have been read. */
export type LiveSearch = LiveStore<LiveSearchSnapshot>;

/** The snapshot before anything has been read, and on a server. */
export const LOADING_SEARCH: LiveSearchSnapshot = {
  status: 'loading',
  error: undefined,
  hits: [],
  isComplete: false,
};

/**
 * Returns a store with the hits of a search. What searches is loaded at the first search.
 *
 * @throws SessionError `invalid_argument` if there is no service
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSearch } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const search = liveSearch(service, { appName: 'shop', userId: 'ada', query: 'tea' });
 * const stop = search.subscribe(({ hits }) => console.log(hits.length));
 * stop();
 * ```
 */
export function liveSearch<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  request: LiveSearchRequest,
): LiveSearch {
  return new LiveSearchStore(service, request);
}

/** The store of {@link liveSearch}. */
export class LiveSearchStore<S extends object> extends ReadingStore<S, LiveSearchSnapshot> {
  readonly #request: LiveSearchRequest;
  #found: Pick<LiveSearchSnapshot, 'hits' | 'isComplete'> | undefined;

  constructor(service: GivenService<SessionService<S>>, request: LiveSearchRequest) {
    super(service);
    this.#request = { ...request };
  }

  protected readonly isHolding = false;

  protected watch(service: SessionService<S>, options: ListenOptions): void {
    const { appName, userId } = this.#request;
    service.watch({ appName, userId }, options);
  }

  protected note(): boolean {
    return true;
  }

  protected async read(
    service: SessionService<S>,
    signal: HostAbortSignal | undefined,
  ): Promise<void> {
    if (!/[\p{L}\p{N}]/u.test(this.#request.query)) {
      this.#found = { hits: [], isComplete: true };
      return;
    }
    const shared = await searchOf(service);
    const { behind } = shared;
    const { hits, isComplete } = await shared.search.find({ ...this.#request, signal });
    this.use(service);
    this.#found = { hits, isComplete };
    if (isComplete || shared.behind === behind) return;
    // If a session cannot be read, another search would be no more complete.
    void shared.behind?.then((isRead) => {
      if (isRead === true && signal?.aborted === false) void this.refresh();
    });
  }

  protected forget(): void {
    this.#found = undefined;
  }

  protected makeSnapshot(): LiveSearchSnapshot {
    if (this.isForgotten) return { ...LOADING_SEARCH, status: 'forgotten' };
    const { error } = this;
    if (this.#found !== undefined) return { ...this.#found, status: 'ready', error };
    return { ...LOADING_SEARCH, status: error === undefined ? 'loading' : 'failed', error };
  }
}
