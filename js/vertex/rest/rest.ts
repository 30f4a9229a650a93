/** Requests to the REST API. */
import type { SessionError } from '../../errors/errors.js';
import { ownMembers } from '../../members/own.js';
import { isPlainObject, type JsonObject } from '../../json/rules.js';
import type { Access, Credentials } from './access.js';
import type { CallLimit } from '../../http/call_limit.js';
import type { CloseTimeout } from '../../http/close_timeout.js';
import { exchange, type HttpRequest, type HttpResponse } from '../../http/exchange.js';
import { timeoutError } from '../../http/http_errors.js';
import { jsonIn } from '../../http/response_text.js';
import { Retries } from '../../http/retries.js';
import { malformedResponse, statusError, unconfirmedError, VERTEX_AI } from './rest_errors.js';

/** The parameters of a URL's query; `undefined` ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The parts that the requests of all calls share. */
export interface Connection {
  readonly access: Access;
  readonly closeTimeout: CloseTimeout;
  /** Timeout in milliseconds of a request, and of getting its access token. */
  readonly timeoutMs: number;
}

/** The requests of one call. */
export class Rest {
  readonly limit: CallLimit;
  readonly #connection: Connection;
  /** Masks the credentials of the last request in a text from the server. */
  mask: (text: string) => string = (text) => text;

  constructor(connection: Connection, limit: CallLimit) {
    this.#connection = connection;
    this.limit = limit;
  }

  get timeoutMs(): number {
    return this.#connection.timeoutMs;
  }

  retries(): Retries {
    return new Retries(this.limit);
  }

  /** Sends a GET request, with retries if they may help. */
  async get(url: string, query: Query = {}): Promise<JsonObject> {
    const retries = this.retries();
    for (;;) {
      try {
        return await this.request('GET', url, query);
      } catch (error) {
        await retries.afterFailure(error);
      }
    }
  }

  /**
   * Sends one request, and repeats it once with a fresh access token if the server answers 401. A request
   * that fails may have taken effect all the same, see `mayHaveTakenEffect`.
   *
   * @throws SessionError `remote`, `connection_lost`; `storage_unavailable` if there are no credentials
   */
  async request(
    method: string,
    url: string,
    query: Query = {},
    body?: JsonObject,
  ): Promise<JsonObject> {
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = String(new URLSearchParams(parameters as [string, string][]));
    const request = {
      method,
      url: search === '' ? url : `${url}?${search}`,
      body: body && JSON.stringify(body),
    };
    const { access, closeTimeout } = this.#connection;
    const credentials = await this.#withTokenTimeout(access.credentials());
    let response = await this.#fetch(request, credentials);
    if (response.status === 401) {
      const fresh = await this.#withTokenTimeout(access.renew(credentials));
      if (fresh !== undefined) {
        this.limit.onRetry?.();
        response = await this.#fetch(request, fresh);
      }
    }
    const { status, text, headers } = response;
    if (status < 200 || status > 299) {
      throw statusError(status, this.mask(text), headers.get('retry-after'));
    }
    closeTimeout.restart();
    // The response to a write may be empty.
    const json = method !== 'GET' && text.trim() === '' ? {} : jsonIn(text);
    if (!isPlainObject(json)) throw malformedResponse(status, this.mask(text));
    return ownMembers(json);
  }

  /** Makes the error for a response that does not have the API's form. */
  malformed(response: JsonObject): SessionError {
    return malformedResponse(200, this.mask(JSON.stringify(response)));
  }

  #fetch(request: HttpRequest, { headers, mask }: Credentials): Promise<HttpResponse> {
    this.mask = mask;
    return exchange(VERTEX_AI, this.limit, this.timeoutMs, { ...request, headers });
  }

  /**
   * Waits for an access token with a timeout. The caller's function may never answer, and must not block the
   * calls that wait for their turn.
   */
  async #withTokenTimeout<T>(token: Promise<T>): Promise<T> {
    const { timeoutMs } = this;
    const tokenTimeoutError = (): unknown => {
      const message = `The access token did not come within ${timeoutMs} ms`;
      return timeoutError(
        VERTEX_AI,
        `${message}. Check the function that provides it, or try again.`,
      );
    };
    try {
      return await this.limit.runPart(timeoutMs, tokenTimeoutError, () => token);
    } catch (error) {
      // `storage_unavailable` would say that nothing was written.
      throw this.limit.hasBegunWrite ? unconfirmedError(error) : error;
    }
  }
}
