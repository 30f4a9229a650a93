/** Requests to the REST API. */
import { isPlainObject } from '../json/rules.js';
import type { Access, Credentials } from './access.js';
import { isTransient, lost, malformed, refused, timedOut } from './failure.js';

export type Json = Readonly<Record<string, unknown>>;

/** What is in a URL's query; absent ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** Milliseconds between a try and the next: short enough for a turn, long enough for a server that is replaced. */
const PAUSES = [100, 400, 1600];

/** Waits before the tries that follow a failed one. */
export async function* tries(): AsyncGenerator<boolean> {
  for (const milliseconds of PAUSES) {
    yield false;
    await pause(milliseconds);
  }
  yield true;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

export class Rest {
  readonly #access: Access;
  readonly timeoutMs: number;

  /** @param timeoutMs how long a request may take, and its access token before */
  constructor(access: Access, timeoutMs: number) {
    this.#access = access;
    this.timeoutMs = timeoutMs;
  }

  /** Reads, and again where that may help. */
  async get(url: string, query: Query = {}): Promise<Json> {
    for await (const isLast of tries()) {
      try {
        return await this.once('GET', url, query);
      } catch (error) {
        if (isLast || !isTransient(error)) throw error;
      }
    }
    throw lost(undefined, this.timeoutMs);
  }

  /**
   * One request. What fails on the way or at the server may have been done all the same, see `mayBeDone`.
   *
   * @throws SessionError `remote`, `connection_lost`; `storage_unavailable` without credentials
   */
  async once(method: string, url: string, query: Query = {}, body?: Json): Promise<Json> {
    const { headers, masked } = await this.#credentials();
    const sent = body && { body: JSON.stringify(body) };
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = String(new URLSearchParams(parameters as [string, string][]));
    let response: Response;
    let text: string;
    try {
      response = await fetch(search === '' ? url : `${url}?${search}`, {
        method,
        headers: sent ? { ...headers, 'content-type': 'application/json' } : headers,
        signal: AbortSignal.timeout(this.timeoutMs),
        // The API has no redirections, and wherever else one leads is not to have the key.
        redirect: 'manual',
        ...sent,
      });
      text = await response.text();
    } catch (cause) {
      throw lost(cause, this.timeoutMs);
    }
    if (!response.ok) throw refused(response.status, masked(text));
    const json = parsed(text);
    if (json === undefined) throw malformed(response.status, masked(text));
    return json;
  }

  /** The caller's function may never answer, and is not to hang the calls that wait for their turn. */
  async #credentials(): Promise<Credentials> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Not the timer of a signal: that one lets Node end with the promise unsettled.
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const message = `The access token did not come within ${this.timeoutMs} ms`;
        reject(timedOut(`${message}: who gives it did not answer in time. Try again.`));
      }, this.timeoutMs);
    });
    try {
      return await Promise.race([this.#access.credentials(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function parsed(text: string): Json | undefined {
  if (text.trim() === '') return {};
  try {
    const json: unknown = JSON.parse(text);
    return isPlainObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
