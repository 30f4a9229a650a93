import { requireText } from '../../values/errors/option_values.js';
import { fork, readBranches, stateAt } from '../../core/history/histories.js';
import { newEventId } from '../../values/model/event/create_event.js';
import { isBlank, requireId } from '../../values/model/values/ids.js';
import { TEXT } from '../requests/parameters.js';
import { keyOf, type Route, routeWithQuery } from '../requests/route.js';
import { FORK } from '../../stores/http/request_bodies.js';
import { respondWithSession } from '../requests/session_response.js';
import { SESSION } from './session_routes.js';

/** The routes of histories besides `rewind_route.ts`, which the server computes: a client may not see the whole session. */
export const HISTORY_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: `${SESSION}/fork`,
    action: 'getSession',
    summary:
      'Makes a new session with the history up to a place. The same request again returns that session.',
    body: FORK,
    response: 'Session',
    run: async (call) => {
      const { newSessionId: id, at, before, title } = call.body;
      const newSessionId = isBlank(id) ? newEventId() : requireId('newSessionId', id);
      await call.requireAccess({ action: 'createSession', sessionId: newSessionId });
      // The function checks them.
      const request = { newSessionId, at, before, title } as Parameters<typeof fork>[1];
      return respondWithSession(call, await fork(call.service, { ...request, ...keyOf(call) }));
    },
  },
  routeWithQuery({
    method: 'GET',
    path: `${SESSION}/branches`,
    action: 'getSession',
    summary: 'Returns where the transcript has other branches, and the last marker of a rewind.',
    query: { fromEventId: TEXT },
    response: 'Branches',
    run: (call) => {
      const { fromEventId } = call.query;
      return readBranches(call.service, { ...keyOf(call), fromEventId });
    },
  }),
  routeWithQuery({
    method: 'GET',
    path: `${SESSION}/state`,
    action: 'getSession',
    summary: "Returns the session's own state as it was right after an event.",
    query: { eventId: TEXT },
    response: 'StateAt',
    run: (call) => {
      const { eventId } = call.query;
      requireText('eventId', eventId);
      return stateAt(call.service, { ...keyOf(call), eventId });
    },
  }),
];
