import { raceSignal } from '../core/call/time_limit.js';
import { TurnLimit } from '../core/call/turn_limit.js';
import { requireFunction } from '../values/errors/option_values.js';
import { publicDetail } from '../values/errors/public_error.js';
import { jsonResponse } from './http/responses.js';
import { streamOf } from './http/streams.js';
import type { HostRequest, HostResponse } from '../values/model/host.js';

/** The part of Node's `IncomingMessage` that {@link nodeListener} uses. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  /** The method. */
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  /** Path and query before Express took a mount path off. */
  readonly originalUrl?: string;
  /** Names and values of the headers, one after the other. */
  readonly rawHeaders: readonly string[];
  /** The connection. */
  readonly socket: object;
  /** Whether somebody has read the body to its end. */
  readonly readableEnded?: boolean;
  /** What a body parser has made of the body. */
  readonly body?: unknown;
}

/** The part of Node's `ServerResponse` that {@link nodeListener} uses. */
export interface NodeResponse {
  /** Sends status and headers. */
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  /** HTTP/1: whether the connection stays open after the response. */
  shouldKeepAlive?: boolean;
  /** Sends a part of the body. `false`: wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  /** Ends the response. */
  end(): unknown;
  /** Cuts the connection: the response is not complete. */
  destroy?(): unknown;
  /** Listens for an event. */
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

/**
 * How long requests may hold a turn of the event loop, in milliseconds. Shorter than SQLite's transactions, which come
 * in the same turn: each new connection waits for a turn of its own.
 */
const REQUESTS_MS = 5;

/**
 * Makes a listener for `node:http`, `node:https` and Express out of a handler, or of a function around one.
 *
 * Node itself ends a request whose body takes longer than `requestTimeout`, by default 300 seconds. With `0`, an upload may
 * go on as long as its bytes come: the handler ends one that stands still. Then set `headersTimeout` too, which is off
 * with it.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { nodeListener, sessionHandler } from 'adk-session-wasm/server';
 *
 * const handler = sessionHandler(new InMemorySessionService(), { authorize: () => true });
 * const options = { requestTimeout: 0, headersTimeout: 60_000 };
 * const server = createServer(options, nodeListener(handler)).listen(0, '127.0.0.1');
 * server.close();
 * ```
 */
export function nodeListener(
  handler: (request: HostRequest) => Promise<HostResponse>,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  requireFunction('handler', handler);
  const turns = new TurnLimit(REQUESTS_MS);
  return async (request, response) => {
    const gone = new AbortController();
    let isSent = false;
    response.once('close', () => {
      // Every response ends with `close`. An abort makes an error with its stack.
      if (!isSent) gone.abort();
    });
    if (!turns.mayBegin()) await turns.next();
    const webRequest = requestOf(request, gone.signal);
    const webResponse =
      webRequest instanceof Response ? webRequest : await respond(handler, webRequest);
    try {
      await send(webResponse, response, gone.signal);
      isSent = true;
    } catch {
      // Somebody else has responded, the body failed, or the client has gone. A rejection would end the process.
      if (response.destroy) response.destroy();
      else response.end();
    }
  };
}

/** A handler around ours may throw. A rejection would end the process. */
async function respond(
  handler: Parameters<typeof nodeListener>[0],
  request: Request,
): Promise<Response> {
  try {
    return await handler(request);
  } catch {
    return jsonResponse({ detail: publicDetail(500) }, 500);
  }
}

/** Returns the request, or a response that says why there is none. */
function requestOf(request: NodeRequest, signal: AbortSignal): Request | Response {
  const { method = 'GET', socket } = request;
  try {
    const headers = headersOf(request);
    if (isBodyTaken(request, headers)) {
      const detail = 'Mount the handler before the body parsers of the server.';
      return jsonResponse({ detail }, 500);
    }
    const scheme = 'encrypted' in socket ? 'https' : 'http';
    const hasBody = method !== 'GET' && method !== 'HEAD';
    return new Request(urlOf(request, `${scheme}://${headers.get('host') ?? 'localhost'}`), {
      method,
      headers,
      signal,
      // `duplex` is required for a body that is a stream.
      ...(hasBody && { body: streamOf(request[Symbol.asyncIterator]()), duplex: 'half' }),
    });
  } catch {
    // `Request` refuses an invalid host, and methods such as TRACE.
    return jsonResponse({ detail: 'The request is malformed.' }, 400);
  }
}

function headersOf({ rawHeaders }: NodeRequest): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    const value = rawHeaders[index + 1]!;
    // HTTP/2 sends method, path and host in headers of its own.
    if (name === ':authority') headers.set('host', value);
    else if (!name.startsWith(':')) headers.append(name, value);
  }
  return headers;
}

/** Returns whether somebody has read the body. The handler would take it for an empty one. */
function isBodyTaken({ readableEnded, body }: NodeRequest, headers: Headers): boolean {
  const hadBody =
    body !== undefined ||
    headers.has('transfer-encoding') ||
    Number(headers.get('content-length')) > 0;
  return readableEnded === true && hadBody;
}

/**
 * Takes path and query only: a request line may name any host. The path `//host/path` names none. A guard in front of
 * the handler sees it as it is, so it must not become `/path` here.
 */
function urlOf({ url = '/', originalUrl = url }: NodeRequest, host: string): URL {
  const { origin } = new URL(host);
  if (originalUrl.startsWith('/')) return new URL(origin + originalUrl);
  const { pathname, search } = new URL(originalUrl, origin);
  return new URL(origin + pathname + search);
}

function isFeed({ headers }: Response): boolean {
  return headers.get('content-type') === 'text/event-stream';
}

async function send(
  webResponse: Response,
  response: NodeResponse,
  gone: AbortSignal,
): Promise<void> {
  const headers: Record<string, string | string[]> = Object.fromEntries(webResponse.headers);
  // The only header that cannot be joined to one line.
  const cookies = webResponse.headers.getSetCookie();
  if (cookies.length > 0) headers['set-cookie'] = cookies;
  // After a feed, Node would keep its connection for another request, and a server that stops would wait for it.
  if (isFeed(webResponse)) response.shouldKeepAlive = false;
  response.writeHead(webResponse.status, headers);
  const reader = webResponse.body?.getReader();
  if (reader !== undefined) {
    const stop = (): void => void reader.cancel().catch(() => undefined);
    if (gone.aborted) stop();
    else gone.addEventListener('abort', stop);
    for (;;) {
      const { done, value } = await reader.read();
      if (done || gone.aborted) break;
      if (response.write(value)) continue;
      await raceSignal(gone, new Promise<void>((resolve) => response.once('drain', resolve)));
    }
  }
  response.end();
}
