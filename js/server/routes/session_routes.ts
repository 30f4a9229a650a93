import { invalid } from '../../values/errors/invalid.js';
import { findSession } from '../../core/history/session_history.js';
import type {
  GetSessionConfig,
  ImportedSessionRequest,
  Session,
  SessionChanges,
} from '../../values/model/session.js';
import { isEqualText } from '../../values/json/equal.js';
import type { Event } from '../../values/model/event/event.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import type { SessionInfo } from '../../values/model/session_info.js';
import { HISTORY_VIEWS } from '../../values/model/values/read_options.js';
import { eventsOfClient } from '../rights/client_append.js';
import { publicView, wholeDelta, withWholeDelta } from '../rights/public_view.js';
import {
  changeIn,
  eventsIn,
  initialStateIn,
  sharedStateFor,
  stateIn,
} from '../requests/call_body.js';
import { HttpRefusal } from '../http/responses.js';
import {
  COUNT,
  FLAG,
  LABELS,
  oneOf,
  type Parameter,
  TEXT,
  TEXTS,
  TIME,
  WHOLE,
} from '../requests/parameters.js';
import { callOf, keyOf, type Route, type RouteCall, routeWithQuery } from '../requests/route.js';
import type {
  CreationMember,
  DeletionParameter,
  ListParameter,
  WindowParameter,
} from '../../stores/http/member_names.js';
import {
  CREATION,
  DELETE_UNCHANGED,
  DESCRIBE,
  GET_OR_CREATE,
  STATE_CHANGE,
} from '../../stores/http/request_bodies.js';
import {
  addRevisions,
  requireCore,
  respondWithSession,
  revisionsOf,
  startsOf,
  tellOpen,
} from '../requests/session_response.js';

/** The sessions of a page by default, and the most. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const SESSIONS = '/apps/{appName}/users/{userId}/sessions';
/** The path of a session. */
export const SESSION = `${SESSIONS}/{sessionId}`;

/** The routes of sessions. */
export const SESSION_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: SESSIONS,
    action: 'createSession',
    summary:
      'Creates a session, with a fresh id unless one is given, and with its events if there are any.',
    body: CREATION,
    response: 'AdkSession',
    isOfApiServer: true,
    run: async (call) =>
      respondWithSession(call, await call.service.createSession(await createRequestIn(call))),
  },
  {
    method: 'POST',
    path: SESSION,
    action: 'createSession',
    summary: 'Creates a session with that id. The members of the body are its state.',
    body: 'any',
    response: 'AdkSession',
    isOfApiServer: true,
    run: async (call) => {
      const state = await initialStateIn(call, call.body, 'body');
      return respondWithSession(call, await call.service.createSession({ ...keyOf(call), state }));
    },
  },
  {
    method: 'PUT',
    path: SESSION,
    action: 'getOrCreateSession',
    summary: 'Returns the session with that id, and creates it if it does not exist.',
    body: GET_OR_CREATE,
    response: 'Session',
    run: async (call) => {
      const state = await initialStateIn(call, call.body.state, 'state');
      return respondWithSession(
        call,
        await call.service.getOrCreateSession({ ...keyOf(call), state }),
      );
    },
  },
  routeWithQuery({
    method: 'GET',
    path: SESSION,
    action: 'getSession',
    summary: 'Returns a session with all of its events, or with the last or later ones.',
    query: {
      numRecentEvents: COUNT,
      afterTimestamp: TIME,
      view: oneOf(HISTORY_VIEWS),
    } satisfies Record<WindowParameter, Parameter<unknown>>,
    response: 'AdkSession',
    isOfApiServer: true,
    givesNull: true,
    run: async (call) => {
      const afterTimestamp = call.form.readTime(call.query.afterTimestamp) as number | undefined;
      const query = { ...call.query, afterTimestamp };
      const session = await requireSession(call, query);
      if (query.numRecentEvents !== 0) await tellOpen(call, session.events);
      const isPart = query.numRecentEvents !== undefined || query.afterTimestamp !== undefined;
      const starts = isPart ? await startsOf(call, session.events) : {};
      return { ...(await respondWithSession(call, session)), ...starts };
    },
  }),
  {
    method: 'PATCH',
    path: SESSION,
    action: 'updateState',
    summary: 'Changes state by an event, and returns the session.',
    body: STATE_CHANGE,
    response: 'AdkSession',
    isOfApiServer: true,
    run: async (call) => {
      const stateDelta = changeIn(call);
      await call.service.updateState({ ...keyOf(call), stateDelta });
      return respondWithSession(call, await requireSession(call, {}));
    },
  },
  {
    method: 'PATCH',
    path: `${SESSION}/description`,
    action: 'updateSession',
    summary: 'Changes the title and the labels, without an event. null removes them.',
    body: DESCRIBE,
    response: 'Nothing',
    run: async (call) => {
      // The service checks both.
      const { title, labels } = call.body as SessionChanges;
      await call.service.updateSession(keyOf(call), { title, labels });
      return null;
    },
  },
  {
    method: 'GET',
    path: `${SESSION}/info`,
    action: 'sessionInfo',
    summary:
      'Returns the times of a session, and the number, the size and the tokens of its events.',
    response: 'SessionInfo',
    givesNull: true,
    run: infoFor,
  },
  routeWithQuery({
    method: 'DELETE',
    path: SESSION,
    action: 'deleteSession',
    summary: 'Deletes a session. It is no error if it does not exist.',
    query: { created: WHOLE },
    response: 'Nothing',
    isOfApiServer: true,
    run: async (call) => {
      const request: ReturnType<typeof keyOf> & HiddenMembers = { ...keyOf(call), ...call.query };
      await call.service.deleteSession(request);
      return null;
    },
  }),
  {
    method: 'POST',
    path: `${SESSION}/delete-unchanged`,
    action: 'deleteSession',
    summary:
      'Deletes a session if it still has this revision and these labels; returns whether it did.',
    body: DELETE_UNCHANGED,
    response: 'Whether',
    run: deleteUnchanged,
  },
  {
    method: 'GET',
    path: SESSIONS,
    action: 'listSessions',
    summary: 'Lists all sessions of a user without their events, by lastUpdateTime.',
    response: 'AdkSessions',
    isOfApiServer: true,
    run: async (call) => {
      const { appName, userId, signal } = call;
      const { sessions } = await call.service.listSessions({ appName, userId, signal });
      return sessions.map(call.form.writeSession);
    },
  },
  routeWithQuery({
    method: 'GET',
    path: '/apps/{appName}/sessions',
    action: 'listSessions',
    summary: 'Lists a page of the sessions of an app, or of a user of it, without their events.',
    query: {
      userId: TEXT,
      limit: WHOLE,
      page: WHOLE,
      cursor: TEXT,
      order: oneOf(['asc', 'desc']),
      orderBy: oneOf(['lastUpdateTime', 'createTime']),
      title: TEXT,
      label: LABELS,
      withTotal: FLAG,
      stateKeys: TEXTS,
    } satisfies Record<ListParameter, Parameter<unknown>>,
    response: 'SessionsPage',
    run: async (call) => {
      const { appName, signal } = call;
      const { label: labels, limit = DEFAULT_LIMIT, ...query } = call.query;
      if (limit > MAX_LIMIT) throw invalid('limit', `must be at most ${MAX_LIMIT}; it is ${limit}`);
      const request = { appName, ...query, labels, limit, signal };
      const { sessions, ...page } = await call.service.listSessions(request);
      return {
        ...page,
        sessions: sessions.map((session) => ({ ...session })),
        revisions: sessions.map((session) => revisionsOf(call, session)),
      };
    },
  }),
  routeWithQuery({
    method: 'DELETE',
    path: '/apps/{appName}/sessions',
    action: 'deleteSessions',
    summary:
      'Deletes the sessions of an app, or of a user of it, that are older and have the labels. Returns their number.',
    query: {
      userId: TEXT,
      olderThan: TIME,
      label: LABELS,
    } satisfies Record<DeletionParameter, Parameter<unknown>>,
    response: 'Deleted',
    run: async ({ service, appName, query, signal }) => {
      const { label: labels, ...request } = query;
      return { deleted: await service.deleteSessions({ appName, ...request, labels }, { signal }) };
    },
  }),
];

/**
 * Reads the session in the path.
 *
 * @throws HttpRefusal 404 if it does not exist
 */
export async function requireSession(call: RouteCall, config: GetSessionConfig): Promise<Session> {
  const { view = 'raw', numRecentEvents, afterTimestamp } = config;
  const isWhole = view === 'raw' && numRecentEvents === undefined && afterTimestamp === undefined;
  const session = isWhole
    ? await findSession(call.service, keyOf(call))
    : await call.service.getSession({ ...keyOf(call), config: { ...config, view } });
  if (session === undefined) throw new HttpRefusal(404, 'Session not found', {}, 'not_found');
  return session;
}

async function deleteUnchanged(call: RouteCall): Promise<boolean> {
  const { key, signal, body } = call;
  const { appName, userId, sessionId } = key;
  const { revision, labels: expected = {} } = body as { revision: number; labels?: unknown };
  const core = requireCore(call);
  const last = { direction: 'before', eventId: undefined, limit: 1, withCount: false } as const;
  const { pages } = core;
  const { labels } = await pages.readPage({ key, ...last, skipCorrupt: true }, { signal });
  // A database prints the text of labels in its own way, and compares that.
  if (!isEqualText(labels ?? '{}', JSON.stringify(expected))) return false;
  const unchanged = { userId, sessionId, revision, labels };
  return core.deletable.deleteUnchanged(appName, unchanged, { signal });
}

/**
 * Reads what a session holds, as a client sees it, and adds its revisions to the headers. A service of a user's own
 * does not tell them.
 */
async function infoFor(call: RouteCall): Promise<SessionInfo> {
  const { core, service, rights, signal } = call;
  if (core === undefined) return service.sessionInfo(keyOf(call));
  const shown = (event: Event): Event => publicView(event, rights.maySeeCredentials);
  const { pages } = core;
  const { created, revision, info } = await pages.readInfo(keyOf(call), { signal }, shown);
  addRevisions(call, { created, revision });
  return info;
}

/**
 * Takes the request to create a session from the body of a call: `createRequest` of our client writes it
 * (js/stores/remote/write_request.ts).
 */
async function createRequestIn(call: RouteCall) {
  const { appName, userId, body } = call;
  const { sessionId, state, events, stateDelta, lastUpdateTime, ...checked } =
    body as Partial<ImportedSessionRequest>;
  const { title, labels, parent, sharedState, initialState } = checked;
  const given = {
    stateDelta: stateIn(call, stateDelta, 'stateDelta'),
    state: stateIn(call, state, 'state'),
    events: events && eventsOfClient(eventsIn(call), call.rights),
  };
  const deltas = given.events?.map(({ actions }) => actions?.stateDelta) ?? [];
  const shared = await sharedStateFor(call, [given.stateDelta, given.state, ...deltas]);
  const members = {
    // The service checks these.
    sessionId,
    title,
    labels,
    parent,
    sharedState,
    initialState,
    lastUpdateTime: call.form.readTime(lastUpdateTime) as number | undefined,
    stateDelta: given.stateDelta && wholeDelta(given.stateDelta, shared),
    state: given.state && wholeDelta(given.state, shared),
    events: given.events?.map((event) => withWholeDelta(event, shared)),
  } satisfies Record<CreationMember, unknown>;
  return { appName, userId, ...members, ...callOf(call) };
}
