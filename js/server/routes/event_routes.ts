import { setAppendRules } from '../../service/append/append_rules.js';
import { orderedWriter } from '../../service/append/state_writer.js';
import { HISTORY_VIEWS } from '../../values/model/values/history_view.js';
import type { AskedRun } from '../../values/model/asked_run.js';
import type { Event } from '../../values/model/event/event.js';
import type { Session } from '../../values/model/session.js';
import { appendBody, askAgent, runIn, runsOf } from './append.js';
import { isTemp } from '../../values/state/scope.js';
import { FLAG, oneOf, TEXT, WHOLE } from './parameters.js';
import { keyOf, type Route, routeWithQuery } from './route.js';
import { EVENTS_MEMBER, EXPECTED, listOf, RUN_MEMBER, TEXT as STRING } from './schemas.js';
import { requireSession } from './session_routes.js';

const EVENTS = '/apps/{appName}/users/{userId}/sessions/{sessionId}/events';

/** The routes of events and of runs, which `adk api_server` does not have. */
export const EVENT_ROUTES: readonly Route[] = [
  routeWithQuery({
    method: 'GET',
    path: EVENTS,
    action: 'listEvents',
    summary: 'Returns a page of the events: the last ones, or those before or after a cursor.',
    query: {
      before: TEXT,
      after: TEXT,
      limit: WHOLE,
      withCount: FLAG,
      view: oneOf(HISTORY_VIEWS),
    },
    response: 'EventsPage',
    run: async (call) => {
      const request = { ...keyOf(call), ...call.query };
      const { events, ...page } = await call.service.listEvents(request);
      return { events: events.map(call.form.writeEvent), ...page };
    },
  }),
  {
    method: 'POST',
    path: `${EVENTS}/by-id`,
    action: 'getSession',
    summary: 'Returns events by their ids, at most 100, with their revisions.',
    body: { eventIds: listOf(STRING) },
    response: 'StoredEvents',
    run: async (call) => {
      const { service, form, body } = call;
      // The service checks them.
      const eventIds = body.eventIds as readonly string[];
      const { events, ...session } = await service.getEvents({ ...keyOf(call), eventIds });
      const written = events.map(({ event, ...place }) => ({
        ...place,
        event: form.writeEvent(event),
      }));
      return { ...session, events: written };
    },
  },
  {
    method: 'POST',
    path: EVENTS,
    action: 'appendEvents',
    summary:
      'Appends events, all or none. An event whose id is stored replaces that event; an equal one changes nothing. ' +
      'With `run` the agent answers the only event, unless it is stored already.',
    body: { events: EVENTS_MEMBER, ...EXPECTED, run: RUN_MEMBER },
    response: 'AppendedEvents',
    run: async (call) => {
      const { service, signal, form } = call;
      const run = runIn(call.body);
      const append = (): Promise<readonly [Session, readonly Event[]]> =>
        appendBody(call, async (events, expected) => {
          const session = await requireSession(call, { numRecentEvents: 0 });
          setAppendRules(events, { stale: 'merge', writer: orderedWriter });
          const request = { session, events, ...expected, signal };
          return [session, await service.appendEvents(request)];
        });
      const ask = async (asked: AskedRun): Promise<readonly [Session, readonly Event[]]> => {
        const { stored } = await askAgent(call, asked);
        return [await requireSession(call, { numRecentEvents: 0 }), [stored]];
      };
      const [session, appended] = await (run === undefined ? append() : ask(run));
      const revision = service.revisionOf(session);
      // The handle has `temp:` keys, and the events that it missed. The response has only what is stored, and the new ones.
      const stored = Object.entries(session.state).filter(([key]) => !isTemp(key));
      const state = Object.fromEntries(stored);
      const head = form.writeSession({ ...session, state, events: [] });
      return { session: head, events: appended.map(form.writeEvent), revision };
    },
  },
  routeWithQuery({
    method: 'DELETE',
    path: '/apps/{appName}/users/{userId}/sessions/{sessionId}/run',
    action: 'run',
    summary:
      'Cancels the run of a session, and answers when it has ended and is sealed. Seals the named message if nothing runs.',
    query: { messageId: TEXT },
    response: 'Cancelled',
    run: async (call) => {
      const { appName, userId, sessionId, query } = call;
      const key = { appName, userId, sessionId };
      return { cancelled: await runsOf(call).cancel(key, query.messageId) };
    },
  }),
];
