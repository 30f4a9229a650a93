/**
 * A session service over HTTP: the handler, which answers a request with a response, and its feeds.
 *
 * `routes/` has the requests and what they do, `requests/` how a request is taken apart and what its response shows,
 * `rights/` what clients may write and see, `http/` bodies, responses and errors, `feed/` the feeds, `runs/` the agent.
 * `js/stores/http/protocol.ts` has what the handler and our own client agree on.
 */
import { requireService } from '../core/call/given_service.js';
import { requireWhole } from '../values/errors/option_values.js';
import { TimeLimit } from '../core/call/time_limit.js';
import { isSessionError, SessionError } from '../values/errors/errors.js';
import type { HostRequest, HostResponse } from '../values/model/host.js';
import {
  AuthorizeFailure,
  NO_RIGHTS,
  requireRights,
  type SessionAccess,
  type TakenRights,
} from './rights/authorize.js';
import type { WatchRequest } from '../values/model/notice.js';
import { requireWatchKeys } from '../core/watch/watcher.js';
import { AnswerReports } from './feed/answer_stream.js';
import { ChangeFeed } from './feed/change_feed.js';
import { ChangeLogs } from './feed/change_log.js';
import { OpenStreams } from './feed/event_stream.js';
import { crossOriginHeaders, optionsResponse, VARY } from './http/cross_origin.js';
import {
  errorResponse,
  isServerFault,
  eventStreamResponse,
  HttpRefusal,
  jsonResponse,
  valueResponse,
} from './http/responses.js';
import { APP_ROUTES } from './routes/app_routes.js';
import { ARTIFACT_ROUTES } from './routes/artifact_routes.js';
import { EVENT_ROUTES } from './routes/event_routes.js';
import {
  type HandlerSettings,
  type SessionHandlerOptions,
  takeSettings,
} from './handler_options.js';
import {
  EVENT_STREAM,
  FEED_HEADER,
  isCompatible,
  MUTATION_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  VERSION_PATH,
} from '../stores/http/protocol.js';
import type { MutationId } from '../values/model/diagnostic.js';
import { openApiDocument } from './open_api.js';
import { readParameters, takeParameters, TEXT } from './requests/parameters.js';
import { OWN_FORM, PYTHON_FORM } from './requests/client_form.js';
import { readBytes, readJsonObject } from './http/request_body.js';
import { takeBody } from './requests/call_body.js';
import { findRoute, routeTable, type Route, type RouteCall, takeNames } from './requests/route.js';
import type { SessionService } from '../values/model/session_service.js';
import type { JsonObject } from '../values/json/rules.js';
import { coreOf } from '../core/core_of.js';
import { SearchedSessions } from '../service/search/searched_sessions.js';
import type { ServiceCore } from '../service/service_core.js';
import { responseText } from './requests/shown_response.js';
import { ServerRuns } from './runs/server_runs.js';
import { HISTORY_ROUTES, REWIND_ROUTE } from './routes/history_routes.js';
import { RUN_ROUTES } from './routes/run_routes.js';
import { SEARCH_ROUTES } from './routes/search_route.js';
import { SESSION_ROUTES } from './routes/session_routes.js';
import { STATE_ROUTES } from './routes/state_routes.js';

/** Answers requests. A call never rejects. */
export interface SessionHandler {
  (request: HostRequest): Promise<HostResponse>;
  /**
   * Prepares the stop of a server: waits for the runs of agents, and then ends all change feeds and all streams of
   * answers. Later runs and feeds get status 503; other requests are answered as before, none with a stream. Runs that have not ended after `graceMs` (10 000) are
   * stopped: their open calls are closed, and their messages count as unanswered. A second close does nothing.
   */
  close(options?: { readonly graceMs?: number | undefined }): Promise<void>;
}

const WATCH_ROUTE: Route = {
  method: 'GET',
  path: '/apps/{appName}/changes',
  action: 'watch',
  summary: 'Sends notices of changes as server-sent events, of an app or a user.',
  query: { userId: TEXT },
  response: 'Notices',
};

/** The feed of a user, whose path names the user as those of the sessions do. */
const USER_WATCH_ROUTE: Route = {
  method: 'GET',
  path: '/apps/{appName}/users/{userId}/changes',
  action: 'watch',
  summary: 'Sends notices of changes of a user as server-sent events, and what agents answer.',
  response: 'Notices',
};

const ROUTES: readonly Route[] = [
  ...SESSION_ROUTES,
  REWIND_ROUTE,
  ...HISTORY_ROUTES,
  ...EVENT_ROUTES,
  ...STATE_ROUTES,
  ...SEARCH_ROUTES,
  ...RUN_ROUTES,
  ...ARTIFACT_ROUTES,
  ...APP_ROUTES,
  WATCH_ROUTE,
  USER_WATCH_ROUTE,
];

const TABLE = routeTable(ROUTES);

/** Milliseconds that a close waits for the runs of agents. */
const GRACE_MS = 10_000;

const DOCUMENT_PATH = '/openapi.json';
/** Tells that the server answers; it asks no storage. */
const HEALTH_PATH = '/health';

/**
 * Serves a session service over HTTP, to pages and to other programs.
 *
 * The handler is a function from a `Request` to a `Response`. It runs in Hono, Next route handlers, Deno and
 * Cloudflare Workers as it is. In `node:http` and Express it runs through {@link nodeListener}. The routes are those
 * of `adk api_server` for sessions, with its casing and units, and more, with those of this package: `/openapi.json`
 * lists them all.
 *
 * @param service any service of this package. The handler does not close it.
 * @throws SessionError `invalid_argument` for an invalid option, or a promise of a service
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { sessionHandler } from 'adk-session-wasm/server';
 *
 * const handler = sessionHandler(new InMemorySessionService(), {
 *   authorize: (request, { userId }) => userId === request.headers.get('x-user'),
 * });
 * const response = await handler(
 *   new Request('http://localhost/apps/shop/users/ada/sessions', {
 *     method: 'POST',
 *     headers: { 'x-user': 'ada' },
 *   }),
 * );
 * console.log(response.status); // 200
 * ```
 */
export function sessionHandler(
  service: SessionService,
  options: SessionHandlerOptions,
): SessionHandler {
  requireService(service, ['createSession', 'listEvents', 'watch']);
  const handler = new Handler(service, takeSettings(options));
  const respond = (request: HostRequest): Promise<HostResponse> => handler.respond(request);
  return Object.assign(respond, {
    close: (options?: { readonly graceMs?: number | undefined }) => handler.close(options),
  });
}

class Handler {
  readonly #service: SessionService;
  /** Absent: the service is a user's own. */
  readonly #core: ServiceCore | undefined;
  readonly #settings: HandlerSettings;
  readonly #logs: ChangeLogs;
  /** Absent: there is no agent. */
  readonly #runs: ServerRuns | undefined;
  readonly #searched: SearchedSessions;
  readonly #streams: OpenStreams;
  /** What agents threw that was reported. */
  readonly #reported = new WeakSet<SessionError>();
  #isClosed = false;

  constructor(service: SessionService, settings: HandlerSettings) {
    this.#service = service;
    this.#core = coreOf(service) as ServiceCore | undefined;
    this.#settings = settings;
    this.#logs = new ChangeLogs(service, this.#core);
    this.#streams = new OpenStreams(settings);
    const { run: agent } = settings;
    this.#searched = new SearchedSessions(service, settings.waitUntil);
    this.#runs = agent && new ServerRuns({ ...settings, service, agent });
  }

  async close(options: { readonly graceMs?: number | undefined } = {}): Promise<void> {
    const graceMs = requireWhole('graceMs', options.graceMs ?? GRACE_MS, 0);
    this.#isClosed = true;
    // Without runs the feeds end in this tick.
    if (this.#runs?.isEmpty === false) await this.#runs.close(graceMs);
    else void this.#runs?.close(0);
    this.#streams.close();
    this.#logs.close();
  }

  async respond(request: Request): Promise<Response> {
    let headers: Record<string, string> = { vary: VARY };
    let response: Response;
    try {
      headers = crossOriginHeaders(request, this.#settings.allowedOrigins);
      if (request.method === 'OPTIONS') return optionsResponse(request, headers);
      response = await this.#respond(request);
    } catch (error) {
      if (isServerFault(error)) void this.#report(error, request);
      response = errorResponse(error);
    }
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    if (request.method !== 'HEAD') return response;
    // A change feed would stay open.
    await response.body?.cancel();
    return new Response(null, response);
  }

  async #respond(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const { authorize, basePath, maxBodyBytes, maxArtifactBytes, maxEvents, apps, timeoutMs } =
      this.#settings;
    const { maxRunMs } = this.#settings;
    if (!pathname.startsWith(`${basePath}/`)) throw new HttpRefusal(404, 'Not Found');
    // Some hosts redirect each path to the same one with a slash at its end.
    const path = pathname.slice(basePath.length).replace(/\/$/, '');
    if (path === DOCUMENT_PATH) return jsonResponse(openApiDocument(ROUTES, basePath));
    if (path === HEALTH_PATH) return jsonResponse({ status: 'ok' });
    if (path === VERSION_PATH) {
      const keepsMutations = await this.#keepsMutations();
      const runsAgents = this.#runs !== undefined;
      const protocol = PROTOCOL_VERSION;
      const limits = { maxBodyBytes, maxArtifactBytes, ...(runsAgents && { maxRunMs }) };
      return jsonResponse({ protocol, keepsMutations, runsAgents, ...limits });
    }
    const isOwnClient = comesFromOwnClient(request);
    const found = findRoute(TABLE, request.method, path, isOwnClient);
    const { route } = found;
    const { query: known = {}, body: schema, isOfApiServer = false } = route;
    // Our own client may be of a later version.
    const query = takeParameters(searchParams, known, isOwnClient);
    const ended = (): SessionError =>
      new SessionError('aborted', 'The client has gone, or the time limit has passed.');
    let received = 0;
    const answer: { reports?: AnswerReports } = {};
    const limit = new TimeLimit(timeoutMs, ended, () => received);
    limit.follow(request.signal, ended);
    const { signal } = limit;
    const hasOwnForm = isOwnClient || !isOfApiServer;
    const readBody = async (): Promise<JsonObject> => {
      if (schema === undefined || schema === 'bytes') return {};
      const body = await readJsonObject(request, maxBodyBytes, signal);
      return schema === 'any' ? body : takeBody(body, schema, isOwnClient, !hasOwnForm);
    };
    try {
      const { names, body } = route.hasNamesInBody
        ? takeNames(await readBody())
        : { names: found.names, body: undefined };
      const concerned = {
        appName: names.appName,
        userId: names.userId || query.get('userId')?.[0],
        sessionId: names.sessionId || undefined,
      };
      const access = { action: route.action, ...concerned };
      const ask = (more: Partial<SessionAccess>): Promise<TakenRights> =>
        limit.race(requireRights(authorize, request, { ...access, ...more }));
      const rights = route.asksForEachApp ? NO_RIGHTS : await ask({});
      if (route.run === undefined && route.stream === undefined) {
        return this.#watch(request, concerned, rights);
      }
      const call: RouteCall<object> = {
        service: this.#service,
        core: this.#core,
        appName: names.appName,
        userId: names.userId,
        key: { appName: names.appName, userId: names.userId, sessionId: names.sessionId },
        file: found.names,
        query: readParameters(query, known),
        body: body ?? (await readBody()),
        bytes:
          schema === 'bytes'
            ? readBytes(request, {
                maxBytes: maxArtifactBytes,
                advice: 'raise maxArtifactBytes at the server.',
                signal,
                onReceived: (size) => void (received = size),
              })
            : undefined,
        request,
        rights,
        requireAccess: ask,
        runs: this.#runs,
        searched: this.#searched,
        report: (error) => void this.#report(error, request),
        maxEvents,
        apps,
        signal,
        gone: request.signal,
        form: hasOwnForm ? OWN_FORM : PYTHON_FORM,
        mutation: isOwnClient ? mutationOf(request) : undefined,
        headers: {},
        reportRun: (runs, messageId) => {
          if (!this.#mayReport(request, runs)) return;
          const message = { ...call.key, messageId };
          answer.reports = new AnswerReports(runs, message, rights.maySeeCredentials);
        },
      };
      if (route.stream !== undefined) return eventStreamResponse(await route.stream(call));
      const value = await route.run!(call).catch((error: unknown) => {
        const { code } = Object(error) as Partial<SessionError>;
        if (isOwnClient && route.givesNull && code === 'not_found') return null;
        throw error;
      });
      if (value instanceof Response) return value;
      const text = await responseText(value, route.response, rights.maySeeCredentials);
      const { reports } = answer;
      // Other streams may have opened meanwhile, and the handler may have closed.
      if (reports === undefined || !this.#mayOpenStream) {
        reports?.end();
        return await valueResponse(request, text, call.headers);
      }
      const texts = (onNews: () => void) => reports.behind(text, onNews);
      return eventStreamResponse(this.#streams.open(texts, request.signal), call.headers);
    } catch (error) {
      answer.reports?.end();
      throw error;
    } finally {
      limit.end();
    }
  }

  /** Whether a client wants the reports of a run behind its answer, and may have one stream more. */
  #mayReport({ headers }: Request, runs: ServerRuns): boolean {
    const accepted = headers.get('accept')?.split(/[,;]/) ?? [];
    const isWanted = accepted.some((type) => type.trim() === EVENT_STREAM);
    const hasFeed = headers.get(FEED_HEADER) === runs.runId.start;
    return isWanted && !hasFeed && this.#mayOpenStream;
  }

  get #mayOpenStream(): boolean {
    return !this.#streams.isFull && !this.#isClosed;
  }

  /** Whether the service applies each mutation of a client once. */
  async #keepsMutations(): Promise<boolean> {
    try {
      return (await this.#core?.keepsMutations()) ?? false;
    } catch {
      // A closed service keeps none.
      return false;
    }
  }

  #watch(request: Request, watched: WatchRequest, rights: TakenRights): Response {
    if (this.#streams.isFull) {
      throw new HttpRefusal(503, 'Too many change feeds are open.', { 'retry-after': '10' });
    }
    if (this.#isClosed) {
      throw new HttpRefusal(503, 'The server is stopping.', { 'retry-after': '1' }, 'closed');
    }
    requireWatchKeys(watched);
    const feed = {
      log: this.#logs.open(watched.appName),
      watched,
      runs: this.#runs,
      maySeeCredentials: rights.maySeeCredentials,
      lastEventId: request.headers.get('last-event-id'),
      onError: (error: unknown) => void this.#report(error, request),
    };
    const texts = (onNews: () => void) => new ChangeFeed(feed, onNews);
    return eventStreamResponse(this.#streams.open(texts, request.signal));
  }

  async #report(error: unknown, request: Request): Promise<void> {
    // Both a run and the request that waits for it report what its agent threw.
    if (isSessionError(error, 'run_failed') && this.#reported.has(error)) return;
    if (isSessionError(error, 'run_failed')) this.#reported.add(error);
    const isWrapped = error instanceof AuthorizeFailure || isSessionError(error, 'run_failed');
    const thrown = isWrapped ? (error.cause ?? error) : error;
    try {
      // It may be asynchronous. An unhandled rejection would end the process.
      await Promise.resolve(this.#settings.onError?.(thrown, request));
    } catch {
      // Ignored: the client still gets its response.
    }
  }
}

/** @throws HttpRefusal 400 if the client is ours and speaks another version of the protocol */
function comesFromOwnClient(request: Request): boolean {
  const version = request.headers.get(PROTOCOL_HEADER);
  if (version === null) return false;
  if (isCompatible(version)) return true;
  const message = `The server speaks version ${PROTOCOL_VERSION} of the protocol; update the older side.`;
  throw new HttpRefusal(400, message);
}

/** @throws HttpRefusal 400 if the header is not one of our client */
function mutationOf(request: Request): MutationId | undefined {
  const header = request.headers.get(MUTATION_HEADER);
  if (header === null) return undefined;
  const [, number = '', client = ''] = /^([1-9]\d{0,15}) ([\da-f-]{36})$/.exec(header) ?? [];
  if (Number.isSafeInteger(Number(number)) && client !== '')
    return { client, number: Number(number) };
  throw new HttpRefusal(400, `${MUTATION_HEADER} must be a number and a UUID.`);
}
