import { loadChunk } from '../../core/wasm/loader/chunk.js';
import type { SessionSearch } from '../../service/search/index.js';
import type { FindRequest } from '../../values/model/search.js';
import type { Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';

/** The search of a service. It has the words that were read. */
interface SharedSearch {
  readonly search: SessionSearch;
  /**
   * The last reading of sessions that went on after a search. Resolves to `true` if all were read.
   */
  behind?: Promise<unknown>;
}

const searches = new WeakMap<object, SharedSearch>();

/** Returns the search of a service, which is loaded at the first call. */
export async function searchOf<S extends object>(
  service: SessionService<S>,
): Promise<SharedSearch> {
  const { sessionSearch } = await loadChunk(() => import('../../service/search/index.js'));
  const known = searches.get(service);
  if (known !== undefined) return known;
  const waitUntil = (work: Promise<unknown>): void => void (shared.behind = work);
  const shared: SharedSearch = { search: sessionSearch(service, { waitUntil }) };
  searches.set(service, shared);
  return shared;
}

/** Sessions in which something was said. */
export interface FoundSessions<S extends object> {
  /** Without their events, those with the newest hits first. */
  readonly sessions: readonly Session<S>[];
  /** Whether all texts were searched. */
  readonly isComplete: boolean;
}

/** Finds the sessions of a user that the first 100 hits of a query are in. */
export async function findSessions<S extends object>(
  service: SessionService<S>,
  request: Omit<FindRequest, 'limit'>,
): Promise<FoundSessions<S>> {
  const { appName, userId, signal } = request;
  const { search } = await searchOf(service);
  const { hits, isComplete } = await search.find({ ...request, limit: 100 });
  const config = { numRecentEvents: 0 };
  const found = [...new Set(hits.map(({ sessionId }) => sessionId))].map((sessionId) =>
    service.getSession({ appName, userId, sessionId, config, signal }),
  );
  const sessions = (await Promise.all(found)).filter((session) => session !== undefined);
  return { sessions, isComplete };
}
