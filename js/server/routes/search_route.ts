import { find } from '../../service/search/find.js';
import { HttpRefusal } from '../http/responses.js';
import { LABELS, TEXT, TIME, WHOLE } from '../requests/parameters.js';
import { routeWithQuery } from '../requests/route.js';

/** Searches in the sessions of a user. `authorize` is asked about each session that has hits. */
export const SEARCH_ROUTE = routeWithQuery({
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
  },
  response: 'FindResult',
  run: ({ appName, userId, query: { label: labels, query = '', ...given }, ...call }) => {
    const request = { appName, userId, query, ...given, labels, signal: call.signal };
    return find(call.searched, request, async (sessionId) => {
      try {
        await call.requireAccess({ action: 'getSession', sessionId });
        return true;
      } catch (error) {
        if (error instanceof HttpRefusal) return false;
        throw error;
      }
    });
  },
});
