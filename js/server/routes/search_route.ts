import { find } from '../../service/search/find.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { SearchParameter } from '../../stores/http/member_names.js';
import { ADD_TO_MEMORY } from '../../stores/http/request_bodies.js';
import { HttpRefusal } from '../http/responses.js';
import { LABELS, type Parameter, TEXT, TIME, WHOLE } from '../requests/parameters.js';
import { type Route, routeWithQuery } from '../requests/route.js';

/** Searches in the sessions of a user. `authorize` is asked about each session that has hits. */
const SEARCH_ROUTE = routeWithQuery({
  method: 'GET',
  path: '/apps/{appName}/users/{userId}/search',
  action: 'search',
  summary: 'Finds events and titles that have all words of a query, in the sessions of a user.',
  query: {
    query: TEXT,
    sessionId: TEXT,
    author: TEXT,
    after: TIME,
    before: TIME,
    label: LABELS,
    limit: WHOLE,
    cursor: TEXT,
  } satisfies Record<SearchParameter, Parameter<unknown>>,
  response: 'FindResult',
  run: ({ appName, userId, query: { label: labels, query = '', ...given }, ...call }) => {
    const request = { appName, userId, query, ...given, labels, signal: call.signal };
    return find(call.service, call.searched, request, async (sessionId) => {
      try {
        await call.requireAccess({ action: 'getSession', sessionId });
        return true;
      } catch (error) {
        // 401 and the order to forget are meant for the whole request.
        if (error instanceof HttpRefusal && error.status === 403) return false;
        throw error;
      }
    });
  },
});

/** The routes of searches and of the memory that agents ask. */
export const SEARCH_ROUTES: readonly Route[] = [
  SEARCH_ROUTE,
  {
    method: 'PATCH',
    path: '/apps/{appName}/users/{userId}/memory',
    action: 'addSessionToMemory',
    summary: 'Adds a session, and what is said in it later, to the memory of agents.',
    body: ADD_TO_MEMORY,
    response: 'Nothing',
    isOfApiServer: true,
    run: async ({ service, searched, appName, userId, signal, ...call }) => {
      const { sessionId } = call.body as { sessionId: string };
      await call.requireAccess({ action: 'getSession', sessionId });
      const key = { appName, userId, sessionId };
      const config = { numRecentEvents: 0 };
      const session = await service.getSession({ ...key, config, signal });
      if (session === undefined) throw sessionNotFound(sessionId);
      await searched.remember(key);
      return null;
    },
  },
];
