import type { MutationId, WriteIdentity } from '../../values/model/diagnostic.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { JsonObject } from '../../values/json/rules.js';
import { requireId } from '../../values/model/values/ids.js';
import { fromPathName } from '../../stores/http/protocol.js';
import { HttpRefusal } from '../http/responses.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { SearchedSessions } from '../../service/search/searched_sessions.js';
import type { ServiceCore } from '../../service/service_core.js';
import type { SessionAccess, SessionAction, TakenRights } from '../rights/authorize.js';
import type { ServerRuns } from '../runs/server_runs.js';
import type { ClientForm } from './client_form.js';
import type { Parameters, ValuesOf } from './parameters.js';
import type { Schema } from '../../stores/http/schema.js';
import type { ResponseName } from './schemas.js';

/** A request that is allowed, taken apart. */
export interface RouteCall<Query = unknown> {
  readonly service: SessionService;
  /** Absent: the service is a user's own. */
  readonly core: ServiceCore | undefined;
  readonly appName: string;
  /** `''` if the path has none. */
  readonly userId: string;
  /** The session, without the signal: a run does not follow that of its request. */
  readonly key: CompositeSessionKey;
  /** The file in the path, and its version; `''` if the path has none. */
  readonly file: FileNames;
  readonly query: Query;
  readonly body: JsonObject;
  /** The bytes of the body. Present if the route takes them. */
  readonly bytes: AsyncIterable<Uint8Array> | undefined;
  readonly request: Request;
  readonly rights: TakenRights;
  /** Asks `authorize` about something else, such as another session of the same user. Rejects if it is refused. */
  readonly requireAccess: (
    access: Pick<SessionAccess, 'action'> & Partial<SessionAccess>,
  ) => Promise<TakenRights>;
  /** Absent: the server has no agent. */
  readonly runs: ServerRuns | undefined;
  /** The words of the users who search. */
  readonly searched: SearchedSessions;
  /** Gets what an agent throws. */
  readonly report: (error: unknown) => void;
  /** The most events that one request may append. */
  readonly maxEvents: number;
  /** The apps that the server names. Absent: it names none. */
  readonly apps: readonly string[] | undefined;
  /** Fires when the client has gone or the time limit has passed. */
  readonly signal: AbortSignal;
  /** Fires when the client has gone. */
  readonly gone: AbortSignal;
  /** How the sessions and events of the request and its response are written. */
  readonly form: ClientForm;
  /** Which write of the client this is. */
  readonly mutation: MutationId | undefined;
  /** Headers of the response. A route may add some. */
  readonly headers: Record<string, string>;
  /** Reports the run of a message behind the value of the response, if the client wants that. */
  readonly reportRun: (runs: ServerRuns, messageId: string) => void;
}

/** Returns the key of the session in the path, with what {@link callOf} returns. */
export function keyOf(call: RouteCall): CompositeSessionKey & Abortable & WriteIdentity {
  const { appName, userId, sessionId } = call.key;
  const { signal, mutation } = call;
  const request = { appName, userId, sessionId, signal };
  return mutation === undefined ? request : { ...request, mutation };
}

/** Returns the signal and the mutation of a request. Public types of requests do not show the mutation. */
export function callOf({ signal, mutation }: RouteCall): Abortable & WriteIdentity {
  return mutation === undefined ? { signal } : { signal, mutation };
}

/** Method, path and work of one kind of request. The OpenAPI document is made from these. */
export interface Route<Query extends Parameters = Parameters> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the base path, with names in braces. */
  readonly path: string;
  readonly action: SessionAction;
  /** A sentence for the OpenAPI document. */
  readonly summary: string;
  /** The parameters that the query may have. */
  readonly query?: Query;
  /** The schema of the body; `'bytes'`: it is a file; absent: the body is not read. */
  readonly body?: Schema | 'any' | 'bytes';
  /** Name of the response's schema in the OpenAPI document. */
  readonly response: ResponseName;
  /**
   * Whether `adk api_server` has this route too: other clients than ours then speak its form. All other routes speak
   * our own form alone.
   */
  readonly isOfApiServer?: true;
  /**
   * Whether the body has the names of the app, the user and the session. It is then read before `authorize` is asked.
   */
  readonly hasNamesInBody?: true;
  /** Whether the work asks `authorize` itself, about each app that it tells of. */
  readonly asksForEachApp?: true;
  /**
   * Whether our own client gets `null` if the session does not exist. A page asks for each conversation that it has
   * just named, and a browser prints each status 404 as an error.
   */
  readonly givesNull?: true;
  /** Returns the value of the response, or a whole response if that is not JSON. */
  run?(call: RouteCall<ValuesOf<Query>>): Promise<unknown>;
  /** Returns the server-sent events of the response. If `run` is absent too, the handler opens a change feed. */
  stream?(call: RouteCall<ValuesOf<Query>>): Promise<ReadableStream<Uint8Array>>;
}

/** Gives the work of a route the types of its parameters. */
export function routeWithQuery<Query extends Parameters>(route: Route<Query>): Route {
  return route;
}

/** A file, as a path names it. */
export interface FileNames {
  readonly filename: string;
  /** A number, or `latest`. */
  readonly version: string;
}

/** The part of a path that is the name of a file: it takes more than one segment if the name has slashes. */
const FILENAME = '{filename}';

/** Routes with the segments of their paths. */
type RouteTable = readonly { readonly route: Route; readonly pattern: readonly string[] }[];

/** Splits the paths of the routes once, not at each request. */
export function routeTable(routes: readonly Route[]): RouteTable {
  return routes.map((route) => ({ route, pattern: route.path.split('/') }));
}

/**
 * Finds the route of a request.
 *
 * @param path path below the base path
 * @param isOwnClient whether the names are those of `toPathName`
 * @returns the first route of the table that matches
 * @throws HttpRefusal 404 if there is no such path, 405 if it has no such method, 400 if a name in it is not
 * encoded correctly
 */
export function findRoute(
  table: RouteTable,
  method: string,
  path: string,
  isOwnClient: boolean,
): { readonly route: Route; readonly names: CompositeSessionKey & FileNames } {
  const given = path.split('/');
  const matching = table.filter(({ pattern }) => matches(pattern, fitted(given, pattern)));
  if (matching.length === 0) throw new HttpRefusal(404, 'Not Found');
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = matching.find(({ route }) => route.method === wanted);
  if (found === undefined) {
    const allow = [...new Set(matching.map(({ route }) => route.method))].join(', ');
    throw new HttpRefusal(405, 'Method Not Allowed', { allow });
  }
  const { route, pattern } = found;
  return { route, names: namesIn(pattern, fitted(given, pattern), isOwnClient) };
}

/** Joins the segments of the name of a file. */
function fitted(segments: readonly string[], pattern: readonly string[]): readonly string[] {
  const more = segments.length - pattern.length;
  const start = more > 0 ? pattern.indexOf(FILENAME) : -1;
  if (start < 0) return segments;
  const end = start + more + 1;
  return [
    ...segments.slice(0, start),
    segments.slice(start, end).join('/'),
    ...segments.slice(end),
  ];
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) =>
      part.startsWith('{') ? segments[index] !== '' : part === segments[index],
    )
  );
}

function namesIn(
  pattern: readonly string[],
  segments: readonly string[],
  isOwnClient: boolean,
): CompositeSessionKey & FileNames {
  const names = { appName: '', userId: '', sessionId: '', filename: '', version: '' };
  for (const [index, part] of pattern.entries()) {
    if (!part.startsWith('{')) continue;
    const name = decode(segments[index]!);
    names[part.slice(1, -1) as keyof typeof names] = isOwnClient ? fromPathName(name) : name;
  }
  return names;
}

/**
 * Takes the names out of a body.
 *
 * @throws SessionError `invalid_argument` if one is empty
 */
export function takeNames({ appName, userId, sessionId, ...body }: JsonObject): {
  readonly names: CompositeSessionKey;
  readonly body: JsonObject;
} {
  const names = { appName, userId, sessionId };
  for (const [name, value] of Object.entries(names)) requireId(name, value);
  return { names: names as CompositeSessionKey, body };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpRefusal(400, 'A name in the path is not encoded correctly.');
  }
}
