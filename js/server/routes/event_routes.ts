import { setAppendRules } from '../../service/append/append_rules.js';
import { orderedWriter } from '../../service/append/state_writer.js';
import { HISTORY_VIEWS } from '../../values/model/values/history_view.js';
import type { AskedRun } from '../../values/model/asked_run.js';
import type { Event } from '../../values/model/event/event.js';
import type { Session } from '../../values/model/session.js';
import { appendBody } from '../requests/call_body.js';
import { askAgent, runIn } from './ask_agent.js';
import { isTemp } from '../../values/state/scope.js';
import { FLAG, oneOf, TEXT, WHOLE } from '../requests/parameters.js';
import { keyOf, type Route, type RouteCall, routeWithQuery } from '../requests/route.js';
import {
  EVENTS_MEMBER,
  EXPECTED,
  listOf,
  RUN_MEMBER,
  TEXT as STRING,
} from '../requests/schemas.js';
import { requireSession, SESSION } from './session_routes.js';

const EVENTS = `${SESSION}/events`;

/** The routes of events, which `adk api_server` does not have. */
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
    givesNull: true,
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
      const { service, form } = call;
      const run = runIn(call.body);
      const [session, appended] = await (run === undefined ? append(call) : ask(call, run));
      const revision = service.revisionOf(session);
      // The handle has `temp:` keys, and the events that it missed. The response has only what is stored, and the new ones.
      const stored = Object.entries(session.state).filter(([key]) => !isTemp(key));
      const state = Object.fromEntries(stored);
      const head = form.writeSession({ ...session, state, events: [] });
      return { session: head, events: appended.map(form.writeEvent), revision };
    },
  },
];

/** The session after an append, and the stored events. */
type AppendedTo = readonly [Session, readonly Event[]];

function append(call: RouteCall): Promise<AppendedTo> {
  const { service, signal } = call;
  return appendBody(call, async (events, expected) => {
    const session = await requireSession(call, { numRecentEvents: 0 });
    setAppendRules(events, { stale: 'merge', writer: orderedWriter });
    return [session, await service.appendEvents({ session, events, ...expected, signal })];
  });
}

async function ask(call: RouteCall, run: AskedRun): Promise<AppendedTo> {
  const { stored } = await askAgent(call, run);
  return [await requireSession(call, { numRecentEvents: 0 }), [stored]];
}
