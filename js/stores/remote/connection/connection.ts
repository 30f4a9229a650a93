import type { Call } from '../../../core/call/call.js';
import {
  isSessionError,
  SessionError,
  type SessionErrorCode,
} from '../../../values/errors/errors.js';
import { reasonOf } from '../../../values/errors/describe.js';
import { CallLimit } from '../../http/call_limit.js';
import type { TimeLimit } from '../../../core/call/time_limit.js';
import {
  type Credentials,
  exchange,
  type HttpRequest,
  type QueryParameters,
} from '../../http/exchange.js';
import { hasStatus, isTransient, jsonIn, REFUSING } from '../../http/http_errors.js';
import { makeMask } from '../../http/mask.js';
import {
  MUTATION_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  toPathName,
} from '../../http/protocol.js';
import { Retries } from '../../http/retries.js';
import type { WriteIdentity } from '../../../values/model/diagnostic.js';
import type { HostFetch, HostHeaders } from '../../../values/model/host.js';
import {
  foreignResponse,
  malformedResponse,
  refusalOf,
  API_SERVER,
  SERVER,
} from './response_error.js';

/** Checked options of a connection. */
export interface ConnectionOptions {
  /** Without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly getAccessToken: (() => string | Promise<string>) | undefined;
  readonly fetch: HostFetch | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly closeLimit: TimeLimit;
}

/** What a server is, by its own answer. */
export interface ServerKind {
  /** Whether it is the handler of `adk-session-wasm/server`. Otherwise it is `adk api_server`. */
  readonly isHandler: boolean;
  /** Whether it applies each write with a mutation once, however often it is sent. */
  readonly keepsMutations: boolean;
  /** Whether it has an agent that answers messages. */
  readonly runsAgents: boolean;
  /** The most bytes of a request. Absent: the server does not tell. */
  readonly maxBodyBytes?: number | undefined;
  /** The most bytes of a file. Absent: the server does not tell. */
  readonly maxArtifactBytes?: number | undefined;
}

/** A request, relative to the URL of the server. */
export interface RemoteRequest
  extends WriteIdentity, Pick<HttpRequest, 'body' | 'headers' | 'readsBytes' | 'readText'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The segments of the path, as {@link pathOf} makes them. */
  readonly path: string;
  readonly query?: QueryParameters;
  /** Milliseconds in place of the connection's timeout. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether a second request changes nothing that the first one has not changed. Default: whether it is a GET. A
   * second deletion may delete what was created again since.
   */
  readonly isIdempotent?: boolean;
  /** The code of a refusal that is an answer: there is nothing. The handler says `null` in place of `not_found`. */
  readonly none?: SessionErrorCode | undefined;
}

/**
 * Takes what the request is for from the JSON, or the bytes, of a response with status 2xx. Returns `undefined` if it is
 * not of the protocol.
 */
export type ReadResponse<T> = (content: unknown, headers: Headers) => T | undefined;

/** Returns the path of names, of which each is encoded. */
export function pathOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(toPathName(segment))}`).join('');
}

/** Sends requests to one server. No error shows a token or the value of a header. */
export class HttpConnection {
  readonly options: ConnectionOptions;
  /** `undefined`: the server has not told. */
  kind: ServerKind | undefined;
  /** The words in the values of the headers. */
  readonly #secrets: readonly string[];

  constructor(options: ConnectionOptions) {
    this.options = options;
    const words = Object.values(options.headers).flatMap((value) => value.split(' '));
    // Shorter ones would be found in texts that hold no secret.
    this.#secrets = words.filter(({ length }) => length >= 6);
  }

  /** @throws SessionError `storage_unavailable` if there is no token */
  async credentials(): Promise<Credentials> {
    const { headers: given, getAccessToken } = this.options;
    const headers = { ...given, [PROTOCOL_HEADER]: PROTOCOL_VERSION };
    if (getAccessToken === undefined) {
      return { headers, secret: undefined, mask: makeMask(...this.#secrets) };
    }
    const secret = await takeToken(getAccessToken);
    const authorization = `Bearer ${secret}`;
    const mask = makeMask(secret, ...this.#secrets);
    return { headers: { ...headers, authorization }, secret, mask };
  }

  /**
   * Sends the only request of a call, and repeats it if that may help and can do no harm.
   *
   * @returns `undefined` if there is nothing, see {@link RemoteRequest.none}
   * @throws SessionError `remote`, `connection_lost`, `storage_unavailable`, or the code of the response
   */
  request<T>(request: RemoteRequest, call: Call, read: ReadResponse<T>): Promise<T | undefined> {
    const work = (limit: CallLimit) => this.requestWithin(limit, request, read);
    return this.limited(call, work, request.timeoutMs);
  }

  /** Sends one of the requests of a call, see {@link HttpConnection.request}. */
  async requestWithin<T>(
    limit: CallLimit,
    request: RemoteRequest,
    read: ReadResponse<T>,
  ): Promise<T | undefined> {
    const { method, isIdempotent = method === 'GET' } = request;
    const mutation = this.kind?.keepsMutations === true ? request.mutation : undefined;
    const retries = new Retries(limit, undefined, this.options.retries);
    /** The first error after which a write may be stored. A later refusal does not tell. */
    let doubt: unknown;
    for (;;) {
      try {
        return await this.#attempt(limit, request, read, mutation);
      } catch (failure) {
        if (method !== 'GET' && isSessionError(failure, 'connection_lost')) doubt ??= failure;
        // Status 429 says that the request was not processed.
        const isHarmless = isIdempotent || mutation !== undefined || hasStatus(failure, 429);
        const mayHelp = isHarmless && isTransient(failure);
        await retries.afterFailure(failure, mayHelp).catch((error: unknown) => {
          throw doubt ?? error;
        });
      }
    }
  }

  /** Runs requests that share the timeout of one call. */
  limited<T>(
    call: Call,
    work: (limit: CallLimit) => Promise<T>,
    timeoutMs = this.options.timeoutMs,
  ): Promise<T> {
    const { closeLimit } = this.options;
    const { signal: closed } = closeLimit;
    return CallLimit.run({ ...call, server: SERVER, timeoutMs, closed }, work);
  }

  async #attempt<T>(
    limit: CallLimit,
    request: RemoteRequest,
    read: ReadResponse<T>,
    mutation: RemoteRequest['mutation'],
  ): Promise<T | undefined> {
    const { closeLimit, fetch } = this.options;
    const { timeoutMs = this.options.timeoutMs } = request;
    const access = async (): Promise<Credentials> => {
      const credentials = await this.credentials();
      if (mutation === undefined) return credentials;
      const header = { [MUTATION_HEADER]: `${mutation.number} ${mutation.client}` };
      return { ...credentials, headers: { ...credentials.headers, ...header } };
    };
    const server = this.kind?.isHandler === false ? API_SERVER : SERVER;
    const parts = { server, access, limit, timeoutMs, fetch };
    const { status, headers, text, bytes, mask } = await exchange(parts, this.httpOf(request));
    this.requireHandler(status, headers);
    if (!(status >= 200 && status <= 299)) {
      const refusal = refusalOf(status, headers, mask(text));
      if (refusal.code === request.none && refusal.mutation === undefined) return undefined;
      throw refusal;
    }
    closeLimit.restart();
    const json = bytes ?? jsonIn(text);
    const value = read(json, headers);
    if (value !== undefined) return value;
    const isNone = json === null && request.none === 'not_found';
    if (isNone && headers.get(PROTOCOL_HEADER) !== null) return undefined;
    throw malformedResponse(status, mask(text), request.method !== 'GET');
  }

  /** @throws SessionError `connection_lost` if something else than the handler has responded in its place */
  requireHandler(status: number, headers: HostHeaders): void {
    // Status 429 says that the request was not processed, whoever sent it.
    if (headers.get(PROTOCOL_HEADER) !== null || status === 429) return;
    // As the server's own, a refusal by the login page of a network or by a proxy would refuse a change for good.
    if (this.kind?.isHandler ?? REFUSING.includes(status)) throw foreignResponse(status, headers);
  }

  /** Returns the request with the URL of the server. */
  httpOf(request: RemoteRequest): HttpRequest {
    return { ...request, url: `${this.options.url}${request.path}` };
  }
}

async function takeToken(getAccessToken: () => string | Promise<string>): Promise<string> {
  let token: unknown;
  try {
    token = await getAccessToken();
  } catch (cause) {
    if (isSessionError(cause)) throw cause;
    throw noToken(`threw: ${reasonOf(cause)}`, cause);
  }
  // `fetch` would refuse other characters with an error that shows the token.
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw noToken('must give printable ASCII text');
}

function noToken(problem: string, cause?: unknown): SessionError {
  const message = `getAccessToken ${problem}.`;
  return new SessionError('storage_unavailable', message, { storage: SERVER.storage, cause });
}
