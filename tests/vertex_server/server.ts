// Agent Engine's sessions on this machine: a server for the v1beta1 REST protocol with all data in memory, and with faults
// on demand. Google's own clients check in tests/interop that it behaves like the real server.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { httpServer } from '../http_server.js';
import { type Call, routeCall } from './calls.js';
import { Engine, type EngineOptions } from './engine.js';
import { type Fault, Faults } from './faults.js';
import { type Fields } from './proto_json.js';
import { ApiError, invalid, statusOf } from './status.js';

export interface VertexServerOptions extends EngineOptions {
  /** The valid tokens and keys. Default: all. */
  readonly credentials?: readonly string[];
  /** Returns the fault of a request without a waiting fault. @param token the client's token */
  readonly faultAt?: (call: Call, token: string) => Fault | undefined;
  /** The number of requests after which a connection ends. Default: 0, unlimited. */
  readonly requestsPerConnection?: number;
}

/** A received request. `code` is the status of its response, if there was one. */
export interface LoggedRequest {
  readonly call: Call;
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  readonly code?: number;
}

export interface VertexServer {
  /** `http://127.0.0.1:PORT`, without the API's paths. */
  readonly url: string;
  /** The requests since the start or the last `forget`. */
  readonly requests: readonly LoggedRequest[];
  /** The calls of these requests, in their order. */
  readonly calls: readonly Call[];
  /** Whether every fault was used. */
  readonly allFaultsUsed: boolean;
  forget(): void;
  /** Makes the next such call fail; see `Fault`. */
  fail(call: Call, fault: Fault): void;
  /** Makes the next such calls fail with this status, without effect. @param retryAfter the header of that name */
  refuse(call: Call, code: number, times?: number, retryAfter?: string): void;
  /** Works like `fetch`, without a connection and without faults. The request is not recorded. */
  fetch(url: string, init?: RequestInit): Response;
  /** The result of a GET of the session, without a request. */
  session(id: string, engine?: string): Fields;
  /** All stored events of the session, oldest first. */
  events(id: string, engine?: string): Fields[];
  end(): Promise<void>;
}

const VERSION = /^\/(?:v1beta1|v1)\/(.*)$/;
const PROJECT = /^projects\/[^/]+\/locations\/([^/]+)\/(.*)$/;
/** Responses have the project's number, even if the client used its name. */
const PROJECT_NUMBER = '424242424242';
/** The location of projects in express mode. */
const EXPRESS_LOCATION = 'us-central1';

export async function startVertexServer(options: VertexServerOptions = {}): Promise<VertexServer> {
  const { credentials, faultAt, requestsPerConnection = 0, ...engineOptions } = options;
  const engine = new Engine(engineOptions);
  const faults = new Faults();
  const requests: LoggedRequest[] = [];

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const method = request.method ?? 'GET';
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
    if (method === 'OPTIONS') return allow(request, response);
    const text = await textOf(request);
    const entry: { -readonly [K in keyof LoggedRequest]?: LoggedRequest[K] } = {
      method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
    };
    const send = (code: number, body: string) => {
      entry.code = code;
      response.writeHead(code, { 'content-type': 'application/json; charset=UTF-8' }).end(body);
    };
    try {
      const [home, resource] = addressOf(url.pathname);
      const called = routeCall(method, resource, url.searchParams, home);
      entry.call = called.call;
      requests.push(entry as LoggedRequest);
      entry.body = jsonOf(text);
      const token = authenticate(request, credentials);
      let fault = faults.take(called.call) ?? faultAt?.(called.call, token);
      while (fault?.kind === 'before') {
        await fault.action();
        fault = faults.take(called.call);
      }
      if (fault?.kind === 'hang') return void fault.onHang?.(once(response, 'close'));
      if (fault?.kind === 'drop') return void response.destroy();
      if (fault?.kind === 'refuse' && fault.retryAfter !== undefined) {
        response.setHeader('retry-after', fault.retryAfter);
      }
      if (fault?.kind === 'refuse') throw new ApiError(statusOf(fault.code), fault.message);
      const result = called.run(engine, entry.body);
      if (fault?.kind === 'lose') return void response.destroy();
      if (fault?.kind === 'late') await pause(fault.milliseconds);
      if (fault?.kind === 'deny') throw new ApiError(statusOf(fault.code), fault.message);
      send(200, fault?.kind === 'answer' ? fault.text : JSON.stringify(result));
    } catch (error) {
      const { code, body } = knownError(error);
      send(code, JSON.stringify(body));
    }
  };

  const server = httpServer((request, response) => void respond(request, response));
  server.maxRequestsPerSocket = requestsPerConnection;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const nameOf = (id: string, engineId: string) =>
    `${homeIn(EXPRESS_LOCATION)}/reasoningEngines/${engineId}/sessions/${id}`;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get calls() {
      return requests.map(({ call }) => call);
    },
    get allFaultsUsed() {
      return faults.allUsed;
    },
    forget() {
      requests.length = 0;
    },
    fail: (call, fault) => faults.add(call, fault),
    refuse(call, code, times = 1, retryAfter) {
      const message = `The server refuses with ${code}.`;
      for (let count = times; count > 0; count -= 1) {
        faults.add(call, { kind: 'refuse', code, message, retryAfter });
      }
    },
    fetch(address, { method = 'GET', body } = {}) {
      const { pathname, searchParams } = new URL(address);
      try {
        const [home, resource] = addressOf(pathname);
        const called = routeCall(method, resource, searchParams, home);
        const given = jsonOf(typeof body === 'string' ? body : '');
        return Response.json(called.run(engine, given));
      } catch (error) {
        const { code, body } = knownError(error);
        return Response.json(body, { status: code });
      }
    },
    session: (id, engineId = ENGINE) => engine.getSession(nameOf(id, engineId)),
    events: (id, engineId = ENGINE) => engine.eventsOf(nameOf(id, engineId)),
    async end() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** An engine, a project and a location for tests that do not depend on them. */
export const ENGINE = '123';
export const PROJECT_ID = 'my-project';
export const LOCATION = EXPRESS_LOCATION;

function knownError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('INTERNAL', String(error));
}

function addressOf(path: string): [home: string, resource: string] {
  const [, resource] = VERSION.exec(path) ?? [];
  if (resource === undefined)
    throw new ApiError('NOT_FOUND', `The requested URL ${path} was not found.`);
  const [, location = EXPRESS_LOCATION, inProject = resource] = PROJECT.exec(resource) ?? [];
  return [homeIn(location), inProject];
}

function homeIn(location: string): string {
  return `projects/${PROJECT_NUMBER}/locations/${location}`;
}

/** Checks the token, or the key of express mode. @returns the token or key */
function authenticate({ headers }: IncomingMessage, good: readonly string[] | undefined): string {
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  const given = token ?? headers['x-goog-api-key'];
  if (typeof given !== 'string' || (good !== undefined && !good.includes(given))) {
    throw new ApiError(
      'UNAUTHENTICATED',
      'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
    );
  }
  return given;
}

function jsonOf(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text, (key, value: unknown) => {
      // Protobuf refuses lone surrogates.
      const texts = typeof value === 'string' ? [key, value] : [key];
      if (texts.some((part) => /\p{Surrogate}/u.test(part))) throw new Error('Invalid UTF-8');
      return value;
    });
  } catch (error) {
    throw invalid(`Invalid JSON payload received. ${String(error)}`);
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function allow(request: IncomingMessage, response: ServerResponse): void {
  response
    .writeHead(204, {
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '',
    })
    .end();
}
