/**
 * HTTP for the stores that are on servers: one exchange, its limits, its repetitions, its errors.
 *
 * It knows no routes of sessions. `protocol.ts` is what `js/server` and `js/stores/remote` agree on.
 */
import type {
  HostAbortSignal,
  HostBlob,
  HostFetch,
  HostHeaders,
  HostResponse,
} from '../../values/model/host.js';
import type { CallLimit } from './call_limit.js';
import { connectionError, type HttpServer, timeoutReason } from './http_errors.js';

/** The parameters of a URL's query. `undefined` ones are left out; a list is given once for each element. */
export type QueryParameters = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/** A request of a call. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly query?: QueryParameters | undefined;
  /** JSON text, or bytes. */
  readonly body?: string | HostBlob | undefined;
  /** Headers besides the credentials. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether a response with status 2xx is read as bytes. */
  readonly readsBytes?: boolean | undefined;
  /** Reads the text of a response with status 2xx. Default: its whole body. */
  readonly readText?: ((response: HostResponse) => Promise<string>) | undefined;
}

/** A response whose text or bytes were read. */
export interface HttpResponse {
  readonly status: number;
  /** `''` if the response was read as bytes. */
  readonly text: string;
  readonly bytes: HostBlob | undefined;
  readonly headers: HostHeaders;
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

/**
 * Provides the credentials of a request.
 *
 * @param wereRefused whether the server has refused the last ones
 */
export type CredentialsProvider = (wereRefused: boolean) => Promise<Credentials>;

/** The most redirections of one request. */
const MAX_REDIRECTIONS = 5;

/** Sends a request, and returns when its response begins. Follows redirections within the server's origin. */
export async function send(
  { method, url, query = {}, body, headers: more }: HttpRequest,
  headers: Readonly<Record<string, string>>,
  signal: HostAbortSignal,
  fetchWith: HostFetch = fetch,
): Promise<HostResponse> {
  // `fetch` would read inherited members as well.
  const request = {
    method,
    // A Blob has its own type.
    headers: {
      ...headers,
      ...more,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    signal,
    // No other server may receive the credentials.
    redirect: 'manual' as const,
    ...(body !== undefined && { body }),
  };
  const search = queryText(query);
  let target = search === '' ? url : `${url}?${search}`;
  for (let remaining = MAX_REDIRECTIONS; ; remaining -= 1) {
    const response = await fetchWith(target, request);
    const next = redirectionOf(response, target);
    if (next === undefined || remaining === 0) return response;
    target = next;
  }
}

/**
 * Returns the URL that a response redirects the same request to. Some hosts redirect each path to the same one with a
 * slash at its end. Another origin does not count, and neither does a status that may change the method.
 */
function redirectionOf(
  { type, status, headers }: HostResponse,
  target: string,
): string | undefined {
  const from = new URL(target);
  if (type === 'opaqueredirect') {
    // A browser does not tell a page where a redirection leads.
    if (from.pathname.endsWith('/')) return undefined;
    from.pathname += '/';
    return from.href;
  }
  if (status !== 307 && status !== 308) return undefined;
  const location = new Headers(headers).get('location');
  if (location === null || !URL.canParse(location, target)) return undefined;
  const to = new URL(location, target);
  return to.origin === from.origin ? to.href : undefined;
}

function queryText(query: QueryParameters): string {
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
  readonly access: CredentialsProvider;
  readonly limit: CallLimit;
  /** Timeout in milliseconds of a request, and of getting its credentials. */
  readonly timeoutMs: number;
  /** Default: the global one. */
  readonly fetch?: HostFetch | undefined;
}

/**
 * Sends a request, and reads its response. Sends it once more with other credentials after status 401. A request
 * that is not a GET ends the caller's right to abort.
 *
 * @throws SessionError `connection_lost` if there is no response, or not all of it; what getting the credentials throws
 */
export async function exchange(parts: Exchange, request: HttpRequest): Promise<HttpResponse> {
  const { access, limit, server } = parts;
  const provider = { ...server, name: 'The function that returns the access token' };
  const credentials = await inTime(parts, provider, () => access(false));
  const response = await exchangeOnce(parts, request, credentials);
  if (response.status !== 401) return response;
  const fresh = await inTime(parts, provider, () => access(true));
  if (fresh.secret === credentials.secret) return response;
  limit.countRetry();
  return exchangeOnce(parts, request, fresh);
}

function exchangeOnce(
  parts: Exchange,
  request: HttpRequest,
  { headers: credentials, mask }: Credentials,
): Promise<HttpResponse> {
  if (request.method !== 'GET') parts.limit.beginWrite();
  return inTime(parts, parts.server, async (signal, extend) => {
    const response = await send(request, credentials, signal, parts.fetch);
    // A user's own `fetch` may return something else than a response.
    const headers = new Headers(response.headers);
    const length = Number(headers.get('content-length') ?? 0);
    if (length > 0) extend(bodyMs(length));
    const bytes = request.readsBytes && response.ok ? await response.blob() : undefined;
    const readText = response.ok ? request.readText : undefined;
    const read = async () => String(await (readText?.(response) ?? response.text()));
    const text = bytes === undefined ? await read() : '';
    return { status: response.status, text, bytes, headers, mask };
  });
}

/** The bytes that a slow line carries in a millisecond. */
const BYTES_PER_MS = 32;

/** Returns the milliseconds that a body may take besides a timeout. A host does not tell how much of it has come. */
export function bodyMs(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_MS);
}

/** Waits with a timeout, also for a function of a user's own that never answers. */
async function inTime<T>(
  { limit, timeoutMs }: Exchange,
  server: HttpServer,
  work: (signal: HostAbortSignal, extend: (milliseconds: number) => void) => Promise<T>,
): Promise<T> {
  try {
    return await limit.runPart(timeoutMs, timeoutReason, work);
  } catch (cause) {
    throw connectionError(server, cause, timeoutMs);
  }
}
