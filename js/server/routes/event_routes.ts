import { setAppendRules } from '../../append/append_rules.js';
import { orderedWriter } from '../../append/state_writer.js';
import { appendOfClient } from '../rights/client_append.js';
import { HISTORY_VIEWS } from '../../read/history_views.js';
import { eventsIn, expectedEventsIn, expectedRevisionIn } from './call_body.js';
import { isTemp } from '../../state/scope.js';
import { eventToJson, sessionToJson } from './event_json.js';
import { flagIn, numberIn, textIn, wordIn } from '../http/query.js';
import { keyOf, type Route } from './route.js';
import { rightsToAppend } from './rewind_route.js';
import { requireSession } from './session_routes.js';

const EVENTS = '/apps/{appName}/users/{userId}/sessions/{sessionId}/events';

/** The routes of events, which `adk api_server` does not have. */
export const EVENT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: EVENTS,
    action: 'listEvents',
    summary: 'Returns a page of the events: the last ones, or those before or after a cursor.',
    query: ['before', 'after', 'limit', 'withCount', 'view'],
    response: 'EventsPage',
    run: async (call) => {
      const { query } = call;
      const { events, ...page } = await call.service.listEvents({
        ...keyOf(call),
        before: textIn(query, 'before'),
        after: textIn(query, 'after'),
        limit: numberIn(query, 'limit'),
        withCount: flagIn(query, 'withCount'),
        view: wordIn(query, 'view', HISTORY_VIEWS),
      });
      return { events: events.map(eventToJson), ...page };
    },
  },
  {
    method: 'POST',
    path: EVENTS,
    action: 'appendEvents',
    summary:
      'Appends events, all or none. An event whose id is stored replaces that event; an equal one changes nothing.',
    body: ['events', 'expectedRevision', 'expectedEvents'],
    response: 'AppendedEvents',
    run: async (call) => {
      const { service, signal } = call;
      const key = keyOf(call);
      const events = eventsIn(call);
      const [session, appended] = await appendOfClient({
        service,
        key,
        rights: await rightsToAppend(call, events),
        events,
        expectedRevision: expectedRevisionIn(call),
        expectedEvents: expectedEventsIn(call),
        append: async (events, expected) => {
          const session = await requireSession(call, { numRecentEvents: 0 });
          setAppendRules(session, {
            stale: 'merge',
            writer: orderedWriter,
          });
          const request = { session, events, ...expected, signal };
          return [session, await service.appendEvents(request)] as const;
        },
      });
      const revision = service.revisionOf(session);
      // The handle has `temp:` keys, and the events that it missed. The response has only what is stored, and the new ones.
      const stored = Object.entries(session.state).filter(([key]) => !isTemp(key));
      const state = Object.fromEntries(stored);
      const head = sessionToJson({ ...session, state, events: [] }, false);
      return { session: head, events: appended.map(eventToJson), revision };
    },
  },
];
