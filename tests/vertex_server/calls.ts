// Maps a request to a call by its method and path, and checks its query.

import { type Engine, type Query } from './engine.js';
import { camelCase, unknownName } from './proto_json.js';
import { ApiError } from './status.js';

export type Call =
  | 'sessions.create'
  | 'sessions.get'
  | 'sessions.list'
  | 'sessions.patch'
  | 'sessions.delete'
  | 'sessions.appendEvent'
  | 'events.list'
  | 'operations.get';

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly query: readonly string[];
  readonly run: (engine: Engine, resource: string, body: unknown, query: Query) => object;
}

const LIST = ['filter', 'orderBy', 'pageSize', 'pageToken'];
/** Parameters that every call of such an API accepts. */
const SYSTEM = ['alt', '$alt', 'fields', 'key', 'prettyPrint', 'quotaUser'];

const SESSION = String.raw`reasoningEngines/\d+/sessions/[\w.~%-]+`;

const ROUTES: Readonly<Record<Call, Route>> = {
  'sessions.create': {
    method: 'POST',
    path: /^(reasoningEngines\/\d+)\/sessions$/,
    query: ['sessionId'],
    run: (engine, resource, body, query) => engine.createSession(resource, body, query),
  },
  'sessions.list': {
    method: 'GET',
    path: /^(reasoningEngines\/\d+)\/sessions$/,
    query: LIST,
    run: (engine, resource, _, query) => engine.listSessions(resource, query),
  },
  'sessions.get': {
    method: 'GET',
    path: new RegExp(`^(${SESSION})$`),
    query: [],
    run: (engine, resource) => engine.getSession(resource),
  },
  'sessions.patch': {
    method: 'PATCH',
    path: new RegExp(`^(${SESSION})$`),
    query: ['updateMask'],
    run: (engine, resource, body, query) => engine.updateSession(resource, body, query),
  },
  'sessions.delete': {
    method: 'DELETE',
    path: new RegExp(`^(${SESSION})$`),
    query: [],
    run: (engine, resource) => engine.deleteSession(resource),
  },
  'sessions.appendEvent': {
    method: 'POST',
    path: new RegExp(`^(${SESSION}):appendEvent$`),
    query: [],
    run: (engine, resource, body) => engine.appendEvent(resource, body),
  },
  'events.list': {
    method: 'GET',
    path: new RegExp(`^(${SESSION})/events$`),
    query: LIST,
    run: (engine, resource, _, query) => engine.listEvents(resource, query),
  },
  'operations.get': {
    method: 'GET',
    path: new RegExp(`^((?:${SESSION}/)?operations/\\d+)$`),
    query: [],
    run: (engine, resource) => engine.getOperation(resource),
  },
};

export interface RoutedCall {
  readonly call: Call;
  run(engine: Engine, body: unknown): object;
}

/**
 * @param resource the path after the API's version and the project
 * @param resourceProject the project's part of a resource name in responses
 */
export function routeCall(
  method: string,
  resource: string,
  search: URLSearchParams,
  resourceProject: string,
): RoutedCall {
  for (const [call, route] of Object.entries(ROUTES) as [Call, Route][]) {
    const name = route.method === method ? route.path.exec(resource)?.[1] : undefined;
    if (name === undefined) continue;
    return {
      call,
      run: (engine, body) =>
        route.run(engine, `${resourceProject}/${name}`, body, queryOf(search, route.query)),
    };
  }
  throw new ApiError('NOT_FOUND', `The requested URL ${resource} was not found on this server.`);
}

function queryOf(search: URLSearchParams, known: readonly string[]): Query {
  const query = new Map<string, string>();
  for (const [name, value] of search) {
    const field = camelCase(name);
    if (known.includes(field)) query.set(field, value);
    else if (!SYSTEM.includes(name)) throw unknownName(name, '');
  }
  return query;
}
