import { invalid } from '../../errors/invalid.js';
import type {
  GetSessionConfig,
  ImportedSessionRequest,
  Session,
  SessionChanges,
} from '../../model/session.js';
import { HISTORY_VIEWS } from '../../read/history_views.js';
import { toAllMilliseconds, toAllSeconds } from '../../python/time.js';
import { eventsOfClient } from '../rights/client_append.js';
import { deltaIn, eventsIn, stateIn } from './call_body.js';
import { HttpRefusal } from '../http/http_refusal.js';
import { flagIn, numberIn, textIn, timeIn, wordIn } from '../http/query.js';
import { callOf, keyOf, type Route, type RouteCall } from './route.js';
import { millisecondsOf, sessionToJson } from './event_json.js';
import { respondWithSession, revisionsOf } from './session_response.js';

/** The sessions of a page by default, and the most. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const SESSIONS = '/apps/{appName}/users/{userId}/sessions';
/** The path of a session. */
export const SESSION = `${SESSIONS}/{sessionId}`;

/** The routes of sessions. Those that `adk api_server` has too answer as it does. */
export const SESSION_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: SESSIONS,
    action: 'createSession',
    summary:
      'Creates a session, with a fresh id unless one is given, and with its events if there are any.',
    body: [
      'sessionId',
      'state',
      'events',
      'title',
      'labels',
      'parent',
      'stateDelta',
      'lastUpdateTime',
      'sharedState',
      'initialState',
    ],
    response: 'Session',
    run: async (call) =>
      respondWithSession(call, await call.service.createSession(createRequestIn(call))),
  },
  {
    method: 'POST',
    path: SESSION,
    action: 'createSession',
    summary: 'Creates a session with that id. The members of the body are its state.',
    body: 'any',
    response: 'Session',
    run: async (call) => {
      const state = stateIn(call, call.body, 'body');
      return respondWithSession(call, await call.service.createSession({ ...keyOf(call), state }));
    },
  },
  {
    method: 'PUT',
    path: SESSION,
    action: 'getOrCreateSession',
    summary: 'Returns the session with that id, and creates it if it does not exist.',
    body: ['state'],
    response: 'Session',
    run: async (call) => {
      const state = stateIn(call, call.body.state, 'state');
      return respondWithSession(
        call,
        await call.service.getOrCreateSession({ ...keyOf(call), state }),
      );
    },
  },
  {
    method: 'GET',
    path: SESSION,
    action: 'getSession',
    summary: 'Returns a session with all of its events, or with the last or later ones.',
    query: ['numRecentEvents', 'afterTimestamp', 'view'],
    response: 'Session',
    run: async (call) => {
      const config = {
        numRecentEvents: numberIn(call.query, 'numRecentEvents'),
        afterTimestamp: timeOf(call, timeIn(call.query, 'afterTimestamp')),
        view: wordIn(call.query, 'view', HISTORY_VIEWS),
      };
      return respondWithSession(call, await requireSession(call, config));
    },
  },
  {
    method: 'PATCH',
    path: SESSION,
    action: 'updateState',
    summary: 'Changes state by an event, and returns the session.',
    body: ['stateDelta'],
    response: 'Session',
    run: async (call) => {
      const stateDelta = deltaIn(call);
      await call.service.updateState({ ...keyOf(call), stateDelta });
      return respondWithSession(call, await requireSession(call, {}));
    },
  },
  {
    method: 'PATCH',
    path: `${SESSION}/description`,
    action: 'updateSession',
    summary: 'Changes the title and the labels, without an event. null removes them.',
    body: ['title', 'labels'],
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
    run: async (call) => {
      const { createTime, lastUpdateTime, ...info } = await call.service.sessionInfo(keyOf(call));
      const times = { lastUpdateTime: toAllSeconds(lastUpdateTime) };
      if (createTime === undefined) return { ...times, ...info };
      return { createTime: toAllSeconds(createTime), ...times, ...info };
    },
  },
  {
    method: 'DELETE',
    path: SESSION,
    action: 'deleteSession',
    summary: 'Deletes a session. It is no error if it does not exist.',
    query: ['created'],
    response: 'Nothing',
    run: async (call) => {
      const created = call.isOwnClient ? numberIn(call.query, 'created') : undefined;
      const request = { ...keyOf(call), ...(created !== undefined && { created }) };
      await call.service.deleteSession(request);
      return null;
    },
  },
  {
    method: 'GET',
    path: SESSIONS,
    action: 'listSessions',
    summary: 'Lists all sessions of a user without their events, by lastUpdateTime.',
    response: 'Sessions',
    run: async (call) => {
      const { appName, userId, signal } = call;
      const { sessions } = await call.service.listSessions({ appName, userId, signal });
      return sessions.map((session) => sessionToJson(session, call.isOwnClient));
    },
  },
  {
    method: 'GET',
    path: '/apps/{appName}/sessions',
    action: 'listSessions',
    summary: 'Lists a page of the sessions of an app, or of a user of it, without their events.',
    query: [
      'userId',
      'limit',
      'page',
      'cursor',
      'order',
      'orderBy',
      'title',
      'label',
      'withTotal',
      'stateKeys',
    ],
    response: 'SessionsPage',
    run: async (call) => {
      const { appName, query, signal, isOwnClient } = call;
      const limit = numberIn(query, 'limit') ?? DEFAULT_LIMIT;
      if (limit > MAX_LIMIT) throw invalid('limit', `must be at most ${MAX_LIMIT}; it is ${limit}`);
      const page = await call.service.listSessions({
        appName,
        userId: textIn(query, 'userId'),
        limit,
        page: numberIn(query, 'page'),
        cursor: textIn(query, 'cursor'),
        order: wordIn(query, 'order', ['asc', 'desc']),
        orderBy: wordIn(query, 'orderBy', ['lastUpdateTime', 'createTime']),
        title: textIn(query, 'title'),
        labels: labelsIn(query),
        withTotal: flagIn(query, 'withTotal'),
        stateKeys: query.has('stateKeys') ? query.getAll('stateKeys') : undefined,
        signal,
      });
      return {
        ...page,
        sessions: page.sessions.map((session) => sessionToJson(session, isOwnClient)),
        ...(isOwnClient && {
          revisions: page.sessions.map((session) => revisionsOf(call, session)),
        }),
      };
    },
  },
  {
    method: 'DELETE',
    path: '/apps/{appName}/sessions',
    action: 'deleteSessions',
    summary:
      'Deletes the sessions of an app, or of a user of it, that are older and have the labels. Returns their number.',
    query: ['userId', 'olderThan', 'label'],
    response: 'Deleted',
    run: async ({ service, appName, query, signal }) => {
      const olderThan = timeIn(query, 'olderThan');
      const request = {
        appName,
        userId: textIn(query, 'userId'),
        olderThan: olderThan === undefined ? undefined : toAllMilliseconds(olderThan),
        labels: labelsIn(query),
      };
      return { deleted: await service.deleteSessions(request, { signal }) };
    },
  },
];

/**
 * Reads the session in the path.
 *
 * @throws HttpRefusal 404 if it does not exist
 */
export async function requireSession(call: RouteCall, config: GetSessionConfig): Promise<Session> {
  const session = await call.service.getSession({
    ...keyOf(call),
    config: { ...config, view: config.view ?? 'raw' },
  });
  if (session === undefined) throw new HttpRefusal(404, 'Session not found', {}, 'not_found');
  return session;
}

/** Returns a time of a request in milliseconds. Only our own client sends milliseconds. */
function timeOf({ isOwnClient }: RouteCall, time: number | undefined): number | undefined {
  return isOwnClient ? time : (millisecondsOf(time) as number | undefined);
}

/** Takes the labels of a query, each as `key:value`; `undefined` if there are none. */
function labelsIn(query: URLSearchParams): Record<string, string> | undefined {
  if (!query.has('label')) return undefined;
  const labels = new Map<string, string>();
  for (const label of query.getAll('label')) {
    const at = label.indexOf(':');
    if (at < 0) throw invalid('label', 'must be a key, a colon and a value');
    const key = label.slice(0, at);
    if (labels.has(key)) throw invalid('label', `has the key ${JSON.stringify(key)} twice`);
    labels.set(key, label.slice(at + 1));
  }
  return Object.fromEntries(labels);
}

/** Takes the request to create a session from the body of a call. */
function createRequestIn(call: RouteCall) {
  const { appName, userId, body } = call;
  const { sessionId, state, events, stateDelta, lastUpdateTime, ...checked } =
    body as Partial<ImportedSessionRequest>;
  const { title, labels, parent, sharedState, initialState } = checked;
  return {
    appName,
    userId,
    // The service checks these.
    sessionId,
    title,
    labels,
    parent,
    sharedState,
    initialState,
    lastUpdateTime: timeOf(call, lastUpdateTime),
    stateDelta: stateIn(call, stateDelta, 'stateDelta'),
    state: stateIn(call, state, 'state'),
    // Python's clients send null for what is absent.
    events:
      events === undefined || events === null
        ? undefined
        : eventsOfClient(eventsIn(call), call.rights),
    ...callOf(call),
  };
}
