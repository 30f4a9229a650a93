import { requireStalePolicy } from '../../service/append/append_rules.js';
import { optionalCount } from '../../values/errors/option_values.js';
import { invalidValue } from '../../values/errors/invalid.js';
import { isEqualText } from '../../values/json/equal.js';
import { takeDescription } from '../../values/model/description.js';
import type { Appended } from '../../core/storage/store.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import type { HandlePosition } from '../../core/write.js';
import { takeEventLimit } from '../../service/read/event_pages.js';
import { HISTORY_VIEWS } from '../../values/model/values/history_view.js';
import type { NewEvent } from '../../values/model/event/event.js';
import type { Expected } from '../rights/client_append.js';
import { appendBody } from '../requests/call_body.js';
import { askAgent, runIn } from './ask_agent.js';
import { SESSION } from './session_routes.js';
import { FLAG, oneOf, TEXT, WHOLE } from '../requests/parameters.js';
import { keyOf, type Route, type RouteCall, routeWithQuery } from '../requests/route.js';
import * as schemas from '../requests/schemas.js';
import { requireCore, startsOf, summarisedIn } from '../requests/session_response.js';

const HANDLE = `${SESSION}/handle`;

const POSITION = schemas.objectOf(
  {},
  { created: schemas.REVISION, revision: schemas.WHOLE, lastEventId: schemas.TEXT },
);

/**
 * The routes of the remote client. It holds handles and updates them itself, so it gets what the storage returns.
 */
export const HANDLE_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: `${HANDLE}/events`,
    action: 'appendEvents',
    summary:
      'Appends events through a handle that the client holds, and returns what the handle lacks.',
    body: {
      events: schemas.EVENTS_MEMBER,
      position: POSITION,
      runRevision: schemas.WHOLE,
      stale: schemas.oneOf(['merge', 'append', 'reject']),
      ...schemas.EXPECTED,
      firstTitle: schemas.TEXT,
      run: schemas.RUN_MEMBER,
    },
    response: 'Appended',
    run: append,
  },
  routeWithQuery({
    method: 'GET',
    path: `${HANDLE}/events`,
    action: 'listEvents',
    summary:
      'Returns a page of the events beside an event, and what the session says about itself.',
    query: {
      direction: oneOf(['before', 'after']),
      eventId: TEXT,
      limit: WHOLE,
      withCount: FLAG,
      view: oneOf(HISTORY_VIEWS),
      isShown: FLAG,
    },
    response: 'StoredPage',
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
      };
      const pages = await requireCore(call).pages({ signal });
      const page = await pages.readPage(request, { signal });
      const starts = page.hasOlder === true ? await startsOf(call, page.events) : {};
      return { ...page, ...summarisedIn(page.events), ...starts };
    },
  }),
  routeWithQuery({
    method: 'GET',
    path: `${SESSION}/changes`,
    action: 'getSession',
    summary: 'Returns what has changed in a session since a revision, and what it is now.',
    query: { since: WHOLE, created: WHOLE },
    response: 'ChangesSince',
    givesNull: true,
    run: async (call) => {
      const { query, form, signal } = call;
      // The service checks that it is there.
      const request = { ...keyOf(call), ...query, since: query.since! };
      const pages = await requireCore(call).pages({ signal });
      const { events, ...changes } = await pages.changes(request, { signal });
      return {
        ...changes,
        lastUpdateTime: form.writeTime(changes.lastUpdateTime),
        events: events?.map(({ event, ...place }) => ({ ...place, event: form.writeEvent(event) })),
        ...(await startsOf(
          call,
          events?.map(({ event }) => event),
        )),
      };
    },
  }),
  {
    method: 'DELETE',
    path: HANDLE,
    action: 'deleteSession',
    summary:
      'Deletes a session if it still has this revision and these labels; returns whether it did.',
    body: { revision: schemas.WHOLE, labels: schemas.orNull(schemas.LABELS) },
    response: 'Whether',
    run: deleteUnchanged,
  },
];

async function deleteUnchanged(call: RouteCall): Promise<boolean> {
  const { key, signal, body } = call;
  const { appName, userId, sessionId } = key;
  const { revision, labels: expected } = body as { revision?: number; labels?: unknown };
  const core = requireCore(call);
  const last = { direction: 'before', eventId: undefined, limit: 1, withCount: false } as const;
  const request = { key, ...last, skipCorrupt: true };
  const pages = await core.pages({ signal });
  const { labels } = await pages.readPage(request, { signal });
  // A database prints the text of labels in its own way, and compares that.
  if (!isEqualText(labels ?? '{}', JSON.stringify(expected ?? {}))) return false;
  return core.deletable.deleteUnchanged(
    appName,
    { userId, sessionId, revision, labels },
    { signal },
  );
}

async function append(call: RouteCall): Promise<Appended> {
  const { key, body, signal, operation } = call;
  const { title: firstTitle } = takeDescription({
    title: body.firstTitle as string | undefined,
  });
  const stale = requireStalePolicy(body.stale);
  const position = positionIn(call);
  const runRevision = optionalCount('runRevision', body.runRevision);
  const { calls, appender } = requireCore(call);
  const append = (events: readonly NewEvent[], expected: Partial<Expected>): Promise<Appended> => {
    const placed = {
      kind: 'append',
      key,
      position,
      runRevision,
      stale,
      firstTitle,
      operation,
      ...expected,
    } as const;
    return calls.run('appendEvents', { signal }, (_, call) =>
      appender.appendPlaced(placed, events, call),
    );
  };
  const run = runIn(body);
  if (run === undefined) return appendBody(call, append);
  const { created, revision } = position.kind === 'revision' ? position : {};
  const seen = { created, revision: stale === 'reject' ? revision : undefined };
  const { stored, isAsSent } = await askAgent(call, run, seen);
  const appended = await append([stored], {});
  return isAsSent ? appended : { ...appended, message: JSON.stringify(stored) };
}

function positionIn({ body }: RouteCall): HandlePosition {
  const position = Object(body.position) as Readonly<Record<string, unknown>>;
  const { created = null, revision = 0, lastEventId } = position;
  if (created !== null && created !== -1 && !isRevision(created)) {
    throw invalidValue('position.created', 'must be a revision, -1 or null', created);
  }
  if (!isRevision(revision))
    throw invalidValue('position.revision', 'must be a revision', revision);
  if (lastEventId !== undefined && typeof lastEventId !== 'string') {
    throw invalidValue('position.lastEventId', 'must be a string', lastEventId);
  }
  if (created === null) return { kind: 'lastEvent', lastEventId };
  return created === -1 ? { kind: 'latest' } : { kind: 'revision', created, revision };
}
