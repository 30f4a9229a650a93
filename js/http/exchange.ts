/** Sends requests, and reads their responses. */
import { ownMembers } from '../members/own.js';
import type { HostAbortSignal } from '../model/host.js';
import type { CallLimit } from './call_limit.js';
import { connectionError, type HttpServer, timeoutError, timeoutReason } from './http_errors.js';

/** The parameters of a URL's query. `undefined` ones are left out; a list is given once for each element. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/** A request of a call. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly query?: Query | undefined;
  /** JSON text. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A response that was read to its end. */
export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Masks the credentials of the request in a text. */
  readonly mask: (text: string) => string;
}

/** The credentials of one request. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: there is no token. */
  readonly secret: string | undefined;
  /** Masks these credentials in a text from the server. */
  readonly mask: (text: string) => string;
}

/** Provides the credentials of requests. */
export interface Access {
  credentials(): Promise<Credentials>;
  /** Returns other credentials after the server refused these; `undefined` if there are none. */
  renew(refused: Credentials): Promise<Credentials | undefined>;
}

/** Sends a request, and returns when its response begins. */
export async function send(
  { method, url, query = {}, body, headers = {} }: HttpRequest,
  credentials: Credentials,
  signal: HostAbortSignal,
  fetchWith: typeof fetch = fetch,
): Promise<Response> {
  // `fetch` would read inherited members as well.
  const request = ownMembers({
    method,
    headers: {
      ...credentials.headers,
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    signal,
    // No other server may receive the credentials.
    redirect: 'manual' as const,
    ...(body !== undefined && { body }),
  });
  const search = queryText(query);
  return fetchWith(search === '' ? url : `${url}?${search}`, request);
}

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? (value as readonly string[]) : [value]) {
      if (item !== undefined) parameters.append(name, String(item));
    }
  }
  return String(parameters);
}

/** The requests of one call. */
export interface Exchange {
  readonly server: HttpServer;
  readonly access: Access;
  readonly limit: CallLimit;
  /** Timeout in milliseconds of a request, and of getting its credentials. */
  readonly timeoutMs: number;
  /** Default: the global one. */
  readonly fetch?: typeof fetch | undefined;
}

/**
 * Sends a request, and reads its response. Sends it once more with other credentials after status 401. A request
 * that is not a GET ends the caller's right to abort.
 *
 * @throws SessionError `connection_lost` if there is no response, or not all of it; what getting the credentials throws
 */
export async function exchange(parts: Exchange, request: HttpRequest): Promise<HttpResponse> {
  const { access, limit } = parts;
  const credentials = await inTime(parts, access.credentials());
  const response = await exchangeOnce(parts, request, credentials);
  if (response.status !== 401) return response;
  const fresh = await inTime(parts, access.renew(credentials));
  if (fresh === undefined) return response;
  limit.onRetry?.();
  return exchangeOnce(parts, request, fresh);
}

async function exchangeOnce(
  { server, limit, timeoutMs, fetch }: Exchange,
  request: HttpRequest,
  credentials: Credentials,
): Promise<HttpResponse> {
  if (request.method !== 'GET') limit.beginWrite();
  try {
    return await limit.runPart(timeoutMs, timeoutReason, async (signal) => {
      const response = await send(request, credentials, signal, fetch);
      // A user's own `fetch` may return something else than a response.
      return {
        status: response.status,
        text: String(await response.text()),
        headers: new Headers(response.headers),
        mask: credentials.mask,
      };
    });
  } catch (cause) {
    throw connectionError(server, cause, timeoutMs);
  }
}

/** Waits for credentials with a timeout: a function of a user's own may never answer. */
function inTime<T>({ server, limit, timeoutMs }: Exchange, credentials: Promise<T>): Promise<T> {
  const tooLate = (): unknown => {
    const message = `The access token did not come within ${timeoutMs} ms`;
    return timeoutError(server, `${message}. Check the function that provides it, or try again.`);
  };
  return limit.runPart(timeoutMs, tooLate, () => credentials);
}
