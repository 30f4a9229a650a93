/** Requests to the REST API. */
import type { TimeLimit } from '../../../core/call/time_limit.js';
import type { SessionError } from '../../../values/errors/errors.js';
import { isPlainObject, type JsonObject } from '../../../values/json/rules.js';
import type { CallLimit } from '../../http/call_limit.js';
import { exchange, type QueryParameters } from '../../http/exchange.js';
import { jsonIn, hasStatus, timeoutError } from '../../http/http_errors.js';
import { repeat, Retries } from '../../http/retries.js';
import type { Access } from './access.js';
import { malformedResponse, statusError, unconfirmedError, VERTEX_AI } from './rest_errors.js';

/** The parts that the requests of all calls share. */
export interface RestParts {
  readonly access: Access;
  readonly closeLimit: TimeLimit;
  /** Timeout in milliseconds of a request, and of getting its access token. */
  readonly timeoutMs: number;
}

/** The requests of one call. */
export class Rest {
  readonly limit: CallLimit;
  readonly #connection: RestParts;
  /** Masks the credentials of the last request in a text from the server. */
  mask: (text: string) => string = (text) => text;

  constructor(connection: RestParts, limit: CallLimit) {
    this.#connection = connection;
    this.limit = limit;
  }

  get timeoutMs(): number {
    return this.#connection.timeoutMs;
  }

  retries(): Retries {
    return new Retries(this.limit);
  }

  /** Runs requests, and repeats them after failures that may pass. */
  repeat<T>(attempt: () => Promise<T>): Promise<T> {
    return repeat(this.retries(), attempt);
  }

  /** Sends a GET request, with retries if they may help. */
  get(url: string, query: QueryParameters = {}): Promise<JsonObject> {
    return this.repeat(() => this.request('GET', url, query));
  }

  /**
   * Reads a list page by page, and yields the items of each page.
   *
   * @param field the member of a page that holds its items
   * @throws SessionError `remote` if a page is malformed, or if a page token repeats
   */
  async *pages(url: string, query: QueryParameters, field: string): AsyncGenerator<JsonObject[]> {
    const tokens = new Set<string>();
    let pageToken: string | undefined;
    do {
      const page = await this.get(url, { ...query, pageToken });
      const { [field]: items = [], nextPageToken = '' } = page;
      const isPage = Array.isArray(items) && items.every(isPlainObject);
      if (!isPage || typeof nextPageToken !== 'string') throw this.malformed(page);
      // A repeated token would make the loop endless.
      if (tokens.has(nextPageToken)) throw this.malformed({ nextPageToken });
      yield items;
      pageToken = nextPageToken === '' ? undefined : nextPageToken;
      if (pageToken !== undefined) tokens.add(pageToken);
    } while (pageToken !== undefined);
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
    query: QueryParameters = {},
    body?: JsonObject,
  ): Promise<JsonObject> {
    const { closeLimit, timeoutMs } = this.#connection;
    const access = (wereRefused: boolean) => this.#connection.access.credentials(wereRefused);
    const { limit } = this;
    const parts = { server: VERTEX_AI, access, limit, timeoutMs };
    const http = { method, url, query, body: body && JSON.stringify(body) };
    const response = await exchange(parts, http).catch((error: unknown) => {
      // `storage_unavailable` would say that nothing was written.
      throw limit.hasBegunWrite ? unconfirmedError(error) : error;
    });
    this.mask = response.mask;
    const { status, text, headers } = response;
    if (status < 200 || status > 299) {
      throw statusError(status, this.mask(text), headers.get('retry-after'));
    }
    closeLimit.restart();
    // The response to a write may be empty.
    const json = method !== 'GET' && text.trim() === '' ? {} : jsonIn(text);
    if (!isPlainObject(json)) throw malformedResponse(status, this.mask(text));
    return json;
  }

  /** Makes the error for a response that does not have the API's form. */
  malformed(response: JsonObject): SessionError {
    return malformedResponse(200, this.mask(JSON.stringify(response)));
  }
}

// Waits for the operations that create and delete requests return.

/** The name of an operation. No segment may consist of dots alone, which would lead elsewhere in a URL's path. */
const OPERATION_NAME = /^(?:(?!\.+\/)[\w.:~-]+\/)*operations\/(?!\.+$)[\w.:~-]+$/;
/** HTTP statuses for the google.rpc codes that session operations end with. */
const HTTP_STATUS_OF_RPC_CODE: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  14: 503,
};

/**
 * Waits for the end of an operation. Polls at once, then with growing pauses.
 *
 * The server refuses to show some operations: those of sessions whose id the caller chose. Then this returns
 * `false`, and the caller looks for the session itself.
 *
 * @param url the server's URL up to the API version
 * @returns whether it is done; `false` if the server does not show the operation
 * @throws SessionError `remote` if it failed; `connection_lost` if it does not finish in time
 */
export async function waitForOperation(
  rest: Rest,
  url: string,
  started: JsonObject,
): Promise<boolean> {
  const retries = new Retries(rest.limit, rest.timeoutMs);
  let operation = started;
  for (let isFirst = true; operation.done !== true; isFirst = false) {
    if (typeof operation.name !== 'string' || operation.name === '') return false;
    if (!OPERATION_NAME.test(operation.name)) throw rest.malformed(operation);
    if (!isFirst) await retries.beforePoll(unfinishedError(rest.timeoutMs));
    try {
      operation = await rest.get(`${url}/${operation.name}`);
    } catch (error) {
      if (hasStatus(error, 400, 403, 404)) return false;
      throw error;
    }
  }
  const { error } = operation;
  if (error === undefined || error === null) return true;
  if (!isPlainObject(error)) throw rest.malformed(operation);
  throw statusError(
    HTTP_STATUS_OF_RPC_CODE[Number(error.code)] ?? 500,
    rest.mask(JSON.stringify({ error })),
  );
}

/** Makes the error for a change that the server does not finish in time. */
export function unfinishedError(timeoutMs: number): SessionError {
  const message =
    `Vertex AI did not finish within ${timeoutMs} ms, but may still do so. ` +
    'Look for the session, or try again.';
  return timeoutError(VERTEX_AI, message);
}
