import type { MaybePromise } from '../../call/call.js';
import { isSessionError, SessionError, type SessionErrorCode } from '../../errors/errors.js';
import { messageOf } from '../../errors/describe.js';
import { CallLimit } from '../../http/call_limit.js';
import type { CloseTimeout } from '../../http/close_timeout.js';
import { exchange, type HttpRequest } from '../../http/exchange.js';
import { isTransient } from '../../http/http_errors.js';
import { makeMask } from '../../http/mask.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION, toPathName } from '../../http/protocol.js';
import { jsonIn } from '../../http/response_text.js';
import { Retries } from '../../http/retries.js';
import type { StorageCall } from '../../model/diagnostic.js';
import { malformedResponse, refusalOf, SERVER } from './response_error.js';

/** Checked options of a connection. */
export interface ConnectionOptions {
  /** Without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly getAccessToken: (() => MaybePromise<string>) | undefined;
  readonly fetch: typeof fetch | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly closeTimeout: CloseTimeout;
}

/** A request, relative to the URL of the server. */
export interface RemoteRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The segments of the path, as {@link pathOf} makes them. */
  readonly path: string;
  /** A parameter of a list is given once for each element. */
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  /** JSON text. */
  readonly body?: string | undefined;
  /**
   * Whether a second request changes nothing that the first one has not changed. Default: whether it is a GET. A
   * second deletion may delete what was created again since.
   */
  readonly isIdempotent?: boolean;
  /** The code of a refusal that is an answer: there is nothing. */
  readonly none?: SessionErrorCode;
}

/**
 * Takes what the request is for from the JSON of a response with status 200. Returns `undefined` if it is not of
 * the protocol.
 */
export type ReadResponse<T> = (json: unknown, headers: Headers) => T | undefined;

/** The headers of one request, and the function that removes their secrets from a text. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string | undefined;
  readonly mask: (text: string) => string;
}

/** Returns the path of names, of which each is encoded. */
export function pathOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(toPathName(segment))}`).join('');
}

/** Sends requests to one server. No error shows a token or the value of a header. */
export class Connection {
  readonly options: ConnectionOptions;
  readonly #maskHeaders: readonly ((text: string) => string)[];

  constructor(options: ConnectionOptions) {
    this.options = options;
    const secrets = Object.values(options.headers).flatMap((value) => value.split(' '));
    // Shorter ones would be found in texts that hold no secret.
    this.#maskHeaders = secrets.filter(({ length }) => length >= 6).map(makeMask);
  }

  urlOf({ path, query = {} }: Pick<RemoteRequest, 'path' | 'query'>): string {
    const parameters = Object.entries(query).flatMap(([name, value]) =>
      (Array.isArray(value) ? (value as readonly string[]) : [value])
        .filter((text) => text !== undefined)
        .map((text) => [name, String(text)]),
    );
    const search = new URLSearchParams(parameters);
    return `${this.options.url}${path}${parameters.length > 0 ? `?${search}` : ''}`;
  }

  /** @throws SessionError `storage_unavailable` if there is no token */
  async credentials(): Promise<Credentials> {
    const { headers: given, getAccessToken } = this.options;
    const headers = { ...given, [PROTOCOL_HEADER]: PROTOCOL_VERSION };
    const masks = [...this.#maskHeaders];
    const mask = (text: string): string => masks.reduce((masked, one) => one(masked), text);
    if (getAccessToken === undefined) return { headers, token: undefined, mask };
    const noToken = (problem: string, cause?: unknown): SessionError => {
      const message = `getAccessToken ${problem}.`;
      return new SessionError('storage_unavailable', message, { storage: SERVER.storage, cause });
    };
    let token: unknown;
    try {
      token = await getAccessToken();
    } catch (cause) {
      if (isSessionError(cause)) throw cause;
      throw noToken(`threw: ${messageOf(cause)}`, cause);
    }
    // `fetch` would refuse other characters with an error that shows the token.
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
      throw noToken('must give printable ASCII text');
    }
    masks.push(makeMask(token));
    return { headers: { ...headers, authorization: `Bearer ${token}` }, token, mask };
  }

  /**
   * Sends a request, and repeats it if that may help and can do no harm.
   *
   * @returns `undefined` if there is nothing, see {@link RemoteRequest.none}
   * @throws SessionError `remote`, `connection_lost`, `storage_unavailable`, or the code of the response
   */
  async request<T>(
    request: RemoteRequest,
    { signal, onRetry }: StorageCall,
    read: ReadResponse<T>,
  ): Promise<T | undefined> {
    const { timeoutMs, closeTimeout, retries: maxRetries } = this.options;
    const limits = { server: SERVER, timeoutMs, signal, onRetry, closed: closeTimeout.signal };
    return CallLimit.run(limits, async (limit) => {
      const retries = new Retries(limit, undefined, maxRetries);
      /** The first error after which a write may be stored. A later refusal does not tell. */
      let doubt: unknown;
      for (;;) {
        const repetition = { mayHelp: false };
        try {
          return await this.#attempt(limit, request, read, repetition);
        } catch (failure) {
          if (request.method !== 'GET' && isSessionError(failure, 'connection_lost'))
            doubt ??= failure;
          await retries.afterFailure(failure, repetition.mayHelp).catch((error: unknown) => {
            throw doubt ?? error;
          });
        }
      }
    });
  }

  /** @param repetition gets whether it may help to send the request again */
  async #attempt<T>(
    limit: CallLimit,
    request: RemoteRequest,
    read: ReadResponse<T>,
    repetition: { mayHelp: boolean },
  ): Promise<T | undefined> {
    const { timeoutMs, closeTimeout, fetch, getAccessToken } = this.options;
    const { method, body, none } = request;
    const { isIdempotent = method === 'GET' } = request;
    const getCredentials = () => limit.wait(this.credentials());
    let credentials = await getCredentials();
    const send = () => {
      const { headers } = credentials;
      const http: HttpRequest = { method, url: this.urlOf(request), body, headers, fetch };
      return exchange(SERVER, limit, timeoutMs, http).catch((error: unknown) => {
        repetition.mayHelp = isIdempotent && isTransient(error);
        throw error;
      });
    };
    let response = await send();
    if (response.status === 401 && getAccessToken !== undefined) {
      const { token } = credentials;
      credentials = await getCredentials();
      if (credentials.token !== token) response = await send();
    }
    const { status, headers } = response;
    // Long texts, and most are never shown.
    const shownText = () => credentials.mask(response.text);
    if (!(status >= 200 && status <= 299)) {
      const refusal = refusalOf(status, headers, shownText());
      if (refusal.error.code === none) return undefined;
      // Status 429 says that the request was not processed.
      repetition.mayHelp = refusal.isTransient && (isIdempotent || status === 429);
      throw refusal.error;
    }
    closeTimeout.restart();
    const value = read(jsonIn(response.text), headers);
    if (value !== undefined) return value;
    repetition.mayHelp = isIdempotent;
    throw malformedResponse(status, shownText(), method !== 'GET');
  }
}
