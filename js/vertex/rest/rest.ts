/** Requests to the REST API. */
import type { SessionError } from '../../errors/errors.js';
import { ownMembers } from '../../members/own.js';
import { isPlainObject } from '../../json/rules.js';
import type { Access, Credentials } from './access.js';
import type { CallLimit } from './call_limit.js';
import type { Closing } from './closing.js';
import { lost, malformed, refused, timedOut, timeoutOf, unconfirmed } from './failure.js';
import { Tries } from './tries.js';

export type Json = Readonly<Record<string, unknown>>;

/** The parameters of a URL's query; `undefined` ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The parts that the requests of all calls share. */
export interface Connection {
  readonly access: Access;
  readonly closing: Closing;
  /** Timeout in milliseconds of a request, and of getting its access token. */
  readonly timeoutMs: number;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly isGood: boolean;
  readonly text: string;
  readonly retryAfter: string | null;
}

/** The requests of one call. */
export class Rest {
  readonly limit: CallLimit;
  readonly #connection: Connection;
  /** Masks the credentials of the last request in a text from the server. */
  masked: (text: string) => string = (text) => text;

  constructor(connection: Connection, limit: CallLimit) {
    this.#connection = connection;
    this.limit = limit;
  }

  get timeoutMs(): number {
    return this.#connection.timeoutMs;
  }

  tries(): Tries {
    return new Tries(this.limit);
  }

  /** Sends a GET request, with retries if they may help. */
  async get(url: string, query: Query = {}): Promise<Json> {
    const tries = this.tries();
    for (;;) {
      try {
        return await this.once('GET', url, query);
      } catch (error) {
        await tries.next(error);
      }
    }
  }

  /**
   * Sends one request, and repeats it once with a fresh access token if the server answers 401. A request
   * that fails may have taken effect all the same, see `mayBeDone`.
   *
   * @throws SessionError `remote`, `connection_lost`; `storage_unavailable` if there are no credentials
   */
  async once(method: string, url: string, query: Query = {}, body?: Json): Promise<Json> {
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = String(new URLSearchParams(parameters as [string, string][]));
    const request = {
      method,
      url: search === '' ? url : `${url}?${search}`,
      body: body && JSON.stringify(body),
    };
    const { access, closing } = this.#connection;
    const credentials = await this.#inTokenTime(access.credentials());
    let answer = await this.#send(request, credentials);
    if (answer.status === 401) {
      const fresh = await this.#inTokenTime(access.renewed(credentials));
      if (fresh !== undefined) answer = await this.#send(request, fresh);
    }
    const { status, isGood, text, retryAfter } = answer;
    if (!isGood) throw refused(status, this.masked(text), retryAfter);
    closing.progress();
    // The response to a write may be empty.
    const json = method !== 'GET' && text.trim() === '' ? {} : parsed(text);
    if (json === undefined) throw malformed(status, this.masked(text));
    return json;
  }

  /** Makes the error for a response that does not have the API's form. */
  malformed(answer: Json): SessionError {
    return malformed(200, this.masked(JSON.stringify(answer)));
  }

  async #send({ method, url, body }: Request, credentials: Credentials): Promise<Answer> {
    const { timeoutMs } = this;
    const { headers, masked } = credentials;
    this.masked = masked;
    if (method !== 'GET') this.limit.beginWrite();
    try {
      return await this.limit.part(timeoutMs, timeoutOf, async (signal) => {
        // `fetch` would read inherited members as well.
        const request = ownMembers({
          method,
          headers:
            body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
          signal,
          // The API does not redirect, and no other server may receive the credentials.
          redirect: 'manual' as const,
          ...(body !== undefined && { body }),
        });
        const response = await fetch(url, request);
        return {
          status: response.status,
          isGood: response.ok,
          text: await response.text(),
          retryAfter: response.headers.get('retry-after'),
        };
      });
    } catch (cause) {
      throw lost(cause, timeoutMs);
    }
  }

  /**
   * Waits for an access token with a timeout. The caller's function may never answer, and must not block the
   * calls that wait for their turn.
   */
  async #inTokenTime<T>(token: Promise<T>): Promise<T> {
    const { timeoutMs } = this;
    const late = (): unknown => {
      const message = `The access token did not come within ${timeoutMs} ms`;
      return timedOut(`${message}: who gives it did not answer in time. Try again.`);
    };
    try {
      return await this.limit.part(timeoutMs, late, () => token);
    } catch (error) {
      // `storage_unavailable` would say that nothing was written.
      throw this.limit.hasBegunWrite ? unconfirmed(error) : error;
    }
  }
}

function parsed(text: string): Json | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isPlainObject(json) ? ownMembers(json) : undefined;
  } catch {
    return undefined;
  }
}
