/** The routes of events, which `adk api_server` does not have. Our own client uses all of them. */
import { takeDescription } from '../../values/model/description.js';
import type { HandlePosition, ReadyAppend } from '../../core/write.js';
import type { Appended } from '../../core/storage/store.js';
import { takeEventLimit } from '../../service/read/event_pages.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import type { RevisionCheck } from '../../values/model/session.js';
import { HISTORY_VIEWS } from '../../values/model/values/read_options.js';
import type { AppendMember, PageParameter } from '../../stores/http/member_names.js';
import { APPEND, EVENT_IDS } from '../../stores/http/request_bodies.js';
import { type Expected, isAsSent } from '../rights/client_append.js';
import { appendBody } from '../requests/call_body.js';
import { FLAG, oneOf, type Parameter, TEXT, WHOLE } from '../requests/parameters.js';
import { keyOf, type Route, type RouteCall, routeWithQuery } from '../requests/route.js';
import { requireCore, startsOf, summarisedIn, tellOpen } from '../requests/session_response.js';
import { askAgent } from './ask_agent.js';
import { SESSION } from './session_routes.js';

const EVENTS = `${SESSION}/events`;

export const EVENT_ROUTES: readonly Route[] = [
  routeWithQuery({
    method: 'GET',
    path: EVENTS,
    action: 'listEvents',
    summary:
      'Returns a page of the events, the last ones or those beside an event, and what the session says about itself.',
    query: {
      direction: oneOf(['before', 'after']),
      eventId: TEXT,
      limit: WHOLE,
      withCount: FLAG,
      view: oneOf(HISTORY_VIEWS),
      isShown: FLAG,
    } satisfies Record<PageParameter, Parameter<unknown>>,
    response: 'EventsPage',
    givesNull: true,
    run: async (call) => {
      const { key, signal, query } = call;
      const { direction = 'before', view, eventId, isShown } = query;
      const request = {
        key,
        direction,
        eventId,
        limit: takeEventLimit(query.limit),
        withCount: query.withCount ?? eventId === undefined,
        view,
        isShown,
      } satisfies Record<PageParameter | 'key', unknown>;
      const { pages } = requireCore(call);
      const page = await pages.readPage(request, { signal });
      if (direction === 'before' && eventId === undefined) await tellOpen(call, page.events);
      const starts = page.hasOlder === true ? await startsOf(call, page.events) : {};
      return { ...page, ...summarisedIn(page.events), ...starts };
    },
  }),
  {
    method: 'POST',
    path: `${EVENTS}/by-id`,
    action: 'getSession',
    summary: 'Returns events by their ids, at most 100, with their revisions.',
    body: EVENT_IDS,
    response: 'StoredEvents',
    givesNull: true,
    run: (call) => {
      const eventIds = call.body.eventIds as readonly string[];
      return call.service.getEvents({ ...keyOf(call), eventIds });
    },
  },
  {
    method: 'POST',
    path: EVENTS,
    action: 'appendEvents',
    summary:
      'Appends events, all or none, and returns what the handle at `position` lacks. An event whose id is stored replaces ' +
      'that event; an equal one changes nothing. With `run` the agent answers the only event, unless it is stored already.',
    body: APPEND,
    response: 'Appended',
    run: append,
  },
  routeWithQuery({
    method: 'GET',
    path: `${SESSION}/changes`,
    action: 'getSession',
    summary: 'Returns what has changed in a session since a revision, and what it is now.',
    query: { since: WHOLE, created: WHOLE },
    response: 'ChangesSince',
    givesNull: true,
    run: async (call) => {
      const { query, signal } = call;
      // The service checks that it is there.
      const request = { ...keyOf(call), ...query, since: query.since! };
      const { pages } = requireCore(call);
      const changes = await pages.changes(request, { signal });
      const events = changes.events?.map(({ event }) => event);
      await tellOpen(call, events);
      return { ...changes, ...(await startsOf(call, events)) };
    },
  }),
];

/** The members of a body of {@link APPEND} besides the events and what {@link appendBody} takes. */
interface AppendBody extends Partial<Pick<ReadyAppend, 'stale' | 'runRevision' | 'run'>> {
  readonly position?: { created?: number; revision?: number; lastEventId?: string };
  readonly firstTitle?: string;
}

/** The members of a body that the append takes as they are. */
type ReadyMember = Exclude<AppendMember, 'events' | 'files' | 'run' | keyof RevisionCheck>;

/** What the client gets. */
interface AppendResponse extends Appended {
  /** The ids and the times of the events, if the server has filled in one. */
  readonly filled?: readonly Pick<Event, 'id' | 'timestamp'>[];
}

async function append(call: RouteCall): Promise<AppendResponse> {
  const { key, signal, mutation } = call;
  const { stale = 'append', runRevision, run, ...body } = call.body as AppendBody;
  const { title: firstTitle } = takeDescription({ title: body.firstTitle });
  const position = positionOf(body);
  const { calls, appender } = requireCore(call);
  const ready = {
    kind: 'append',
    key,
    position,
    runRevision,
    stale,
    firstTitle,
    mutation,
  } as const satisfies Record<'kind' | 'key' | 'mutation' | ReadyMember, unknown>;
  const isGiven = (call.body.events as readonly NewEvent[]).every(
    ({ id, timestamp }) => id && timestamp !== undefined,
  );
  const append = async (
    events: readonly NewEvent[],
    expected: Partial<Expected>,
    sent: readonly NewEvent[],
  ): Promise<AppendResponse> => {
    const own = await calls.run('appendEvents', { signal }, (_, call) =>
      appender.appendReady({ ...ready, ...expected }, events, call),
    );
    const texts = textsNotAsSent(sent, events);
    const appended = texts.length === 0 ? own : { ...own, texts };
    if (isGiven) return appended;
    // The append sets them.
    const stored = events as readonly Event[];
    return { ...appended, filled: stored.map(({ id, timestamp }) => ({ id, timestamp })) };
  };
  if (run === undefined) return appendBody(call, append);
  const { created, revision } = position.kind === 'revision' ? position : {};
  const seen = { created, revision: stale === 'reject' ? revision : undefined };
  const { stored, sent } = await askAgent(call, run, seen, firstTitle);
  return append([stored], {}, [sent]);
}

/** Returns the texts of the events that are not stored as they were sent. */
function textsNotAsSent(
  sent: readonly NewEvent[],
  events: readonly NewEvent[],
): NonNullable<Appended['texts']> {
  return events.flatMap((event, position) => {
    if (isAsSent(sent[position]!, event)) return [];
    return [{ position, text: JSON.stringify(event) }];
  });
}

function positionOf({ position }: AppendBody): HandlePosition {
  if (position === undefined) return { kind: 'latest' };
  const { created, revision = 0, lastEventId } = position;
  if (created === undefined) return { kind: 'lastEvent', lastEventId };
  return { kind: 'revision', created, revision };
}
