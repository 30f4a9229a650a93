import { invalid } from '../errors/invalid.js';
import { isPlainObject, kindOf } from '../json/rules.js';
import type { NewEvent } from '../model/event.js';
import { requireWritableDeltas } from './app_state.js';
import { eventFromJson, eventToJson, sessionToJson } from './event_json.js';
import { numberIn, wordIn } from './query.js';
import type { Route, RouteCall } from './route.js';
import { keyOf, readSession } from './session_routes.js';

const EVENTS = '/apps/{appName}/users/{userId}/sessions/{sessionId}/events';

/** The routes of events, which `adk api_server` does not have. */
export const EVENT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: EVENTS,
    action: 'listEvents',
    summary: 'Returns a page of the events: the last ones, or those before or after a cursor.',
    query: ['before', 'after', 'limit', 'withCount'],
    response: 'EventsPage',
    run: async (call) => {
      const { query } = call;
      const { events, ...page } = await call.service.listEvents({
        ...keyOf(call),
        before: query.get('before') ?? undefined,
        after: query.get('after') ?? undefined,
        limit: numberIn(query, 'limit'),
        withCount: wordIn(query, 'withCount', ['true', 'false']) !== 'false',
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
    body: ['events', 'expectedRevision'],
    response: 'AppendedEvents',
    run: async (call) => {
      const events = eventsIn(call, call.body.events);
      const session = await readSession(call, { numRecentEvents: 0 });
      const { signal } = keyOf(call);
      // The service checks that it is a number.
      const expectedRevision = call.body.expectedRevision as number | undefined;
      const request = { session, events, expectedRevision, signal };
      const appended = await call.service.appendEvents(request);
      const revision = call.service.revisionOf(session);
      // The handle has the new events too, and those that it missed. The response has the new ones only.
      const head = sessionToJson({ ...session, events: [] });
      return { session: head, events: appended.map(eventToJson), revision };
    },
  },
];

/**
 * Returns the events in a body, in the form of the service.
 *
 * @throws HttpRefusal 403 if one changes `app:` state and the request may not change it
 * @throws SessionError `invalid_argument` if it is not a list of objects, or too long
 */
export function eventsIn(call: RouteCall, value: unknown): NewEvent[] {
  if (!Array.isArray(value)) throw invalid('events', `must be a list; it is ${kindOf(value)}`);
  if (value.length > call.maxEvents) {
    throw invalid('events', `has ${value.length} events; at most ${call.maxEvents} are allowed`);
  }
  const events = value.map((event: unknown, at) => {
    if (isPlainObject(event)) return eventFromJson(event);
    throw invalid(`events[${at}]`, `must be an object; it is ${kindOf(event)}`);
  });
  requireWritableDeltas(call, events);
  return events;
}
