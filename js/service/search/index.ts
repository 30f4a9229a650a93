/**
 * Finds what was said, in the scripts that docs/search.md lists, and gives it to an agent as its memory.
 *
 * It works over any session service. Over HTTP the server searches. A database and IndexedDB keep the words of sessions;
 * elsewhere they are in this process. The first search of a user reads the user's sessions, and later ones what has
 * changed. An append costs nothing.
 *
 * @module adk-session-wasm/search
 */
import { requireService } from '../../core/call/given_service.js';
import { takeOptions, takeRequest } from '../../core/call/call.js';
import { coreOf } from '../../core/core_of.js';
import { requireFunction } from '../../values/errors/option_values.js';
import type { FindRequest, FindResult } from '../../values/model/search.js';
import type { SessionService } from '../../values/model/session_service.js';
import { find, takeSearch } from './find.js';
import { findThroughCache } from './find_through_cache.js';
import { makeMemoryService, type MemoryOptions, type MemoryService } from './memory_service.js';
import { SearchedSessions } from './searched_sessions.js';

export type { FindRequest, FindResult, SearchHit, SnippetPart } from '../../values/model/search.js';
export type { FoundMemories, MemoryEntry, MemoryOptions, MemoryService } from './memory_service.js';

/** Options of {@link sessionSearch}. */
export interface SearchOptions {
  /**
   * Called with the reading of sessions that goes on after a search: give `waitUntil` of Cloudflare Workers, which
   * otherwise end it.
   */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Searches in the sessions of a service. Make one for a service, and keep it: it has the words. */
export interface SessionSearch {
  /**
   * Finds events and titles that have all words of a query. Texts of users and agents and the names of files are
   * searched, but no thoughts, calls and states. What a rewind has undone is not found.
   *
   * @throws SessionError `invalid_argument`; `aborted`; any error of a list of sessions
   */
  find(request: FindRequest): Promise<FindResult>;
  /**
   * Makes a memory service for a `Runner` of `@google/adk`. It finds what its user has said and heard in any session that
   * is not excepted.
   *
   * @throws SessionError `invalid_argument`
   */
  asMemoryService(options?: MemoryOptions): MemoryService;
}

/**
 * Searches in the sessions of a service.
 *
 * @throws SessionError `invalid_argument` if it is no session service
 *
 * @example
 * ```ts
 * import { createEvent, InMemorySessionService } from 'adk-session-wasm';
 * import { sessionSearch } from 'adk-session-wasm/search';
 *
 * const service = new InMemorySessionService();
 * const user = { appName: 'shop', userId: 'ada' };
 * const session = await service.createSession({ ...user, sessionId: 's1' });
 * const content = { role: 'user', parts: [{ text: 'Ist grüner Tee gesund?' }] };
 * await service.appendEvent({ session, event: createEvent({ author: 'user', content }) });
 *
 * const { hits, isComplete } = await sessionSearch(service).find({ ...user, query: 'tee GRUN' });
 * console.log(hits[0]?.sessionId, isComplete); // s1 true
 * ```
 */
export function sessionSearch(service: SessionService, options: SearchOptions = {}): SessionSearch {
  requireService(service, ['getSession', 'listChanges', 'revisionOf', 'sessions']);
  const { waitUntil } = takeOptions(options);
  if (waitUntil !== undefined) requireFunction('waitUntil', waitUntil);
  const searched = new SearchedSessions(service, waitUntil);
  return {
    find: async (request) => {
      const taken = takeRequest(request);
      takeSearch(taken);
      const core = coreOf(service);
      if (core?.unsentSessions) return findThroughCache(service, searched, taken);
      return (await core?.search(taken)) ?? find(service, searched, taken);
    },
    asMemoryService: (options = {}) => makeMemoryService(searched, takeOptions(options)),
  };
}
