import { backoff } from '../call/backoff.js';
import { isSessionError, type SessionError } from '../errors/errors.js';
import { connectionError, noteRetryAfter, retryAfterOf } from '../http/http_errors.js';
import { isPlainObject } from '../json/rules.js';
import { Feed } from '../watch/feed.js';
import { decodeNotice } from '../watch/tab_message.js';
import type { Watcher } from '../watch/watcher.js';
import { type Connection, pathOf } from './connection.js';
import { refusalOf, SERVER } from './response_error.js';
import { serverSentEvents } from './server_sent_events.js';

/** First and longest pause before a feed is opened again, in milliseconds. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 30_000;
/** Milliseconds without a sign of the server, which sends one every 15 seconds. */
const SILENCE_MS = 45_000;

/**
 * Gets the notices of the server, and keeps to itself those of this service: the server sends them too. Watchers
 * of the same session, user or app share one connection. Each connection begins with `resync`, because changes may
 * have been missed before it was open.
 */
export class RemoteFeed extends Feed {
  readonly #connection: Connection;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #onError: (error: unknown) => void;

  /** @param onError gets the errors of feeds */
  constructor(connection: Connection, onError: (error: unknown) => void) {
    super();
    this.#connection = connection;
    this.#onError = onError;
  }

  override get hasReceivers(): boolean {
    return false;
  }

  override publish(): void {
    // The server publishes.
  }

  override add(watcher: Watcher): void {
    const { appName, userId, sessionId } = watcher.request;
    const name = JSON.stringify([appName, userId, sessionId]);
    let subscription = this.#subscriptions.get(name);
    if (subscription === undefined) {
      subscription = new Subscription(this.#connection, watcher, this.#onError);
      this.#subscriptions.set(name, subscription);
    }
    const { watchers } = subscription;
    watchers.add(watcher);
    const { stop } = subscription;
    watcher.onEnd(() => {
      watchers.delete(watcher);
      if (watchers.size > 0) return;
      this.#subscriptions.delete(name);
      stop();
    });
  }
}

/** One connection to the change feed, which is opened again when it breaks. */
class Subscription {
  readonly watchers = new Set<Watcher>();
  readonly #connection: Connection;
  readonly #url: string;
  readonly #ended = new AbortController();

  constructor(connection: Connection, watcher: Watcher, onError: (error: unknown) => void) {
    const { appName, userId, sessionId } = watcher.request;
    this.#connection = connection;
    const path = `${pathOf('apps', appName)}/changes`;
    this.#url = connection.urlOf({ path, query: { userId, sessionId } });
    void this.#run(onError);
  }

  readonly stop = (): void => this.#ended.abort();

  async #run(onError: (error: unknown) => void): Promise<void> {
    const { signal } = this.#ended;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      let atLeast = 0;
      try {
        await this.#read(() => (attempt = -1));
      } catch (error) {
        if (signal.aborted) return;
        onError(error);
        if (!isSessionError(error, 'connection_lost')) {
          for (const watcher of [...this.watchers]) watcher.finish();
          return;
        }
        atLeast = retryAfterOf(error);
      }
      await pause(Math.max(backoff(attempt + 1, FIRST_PAUSE, LONGEST_PAUSE), atLeast), signal);
    }
  }

  /** Reads one response to its end. */
  async #read(onOpen: () => void): Promise<void> {
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new Error('it is silent')), SILENCE_MS);
    };
    const end = (): void => silence.abort(this.#ended.signal.reason);
    this.#ended.signal.addEventListener('abort', end);
    try {
      heard();
      const { headers, mask } = await this.#connection.credentials();
      const { fetch: send = fetch } = this.#connection.options;
      const response = await send(this.#url, {
        // The server begins with `resync`.
        headers: { ...headers, 'last-event-id': '0' },
        signal: silence.signal,
        redirect: 'manual',
      });
      if (response.status !== 200) throw await feedRefusal(response, mask);
      silence.signal.throwIfAborted();
      onOpen();
      for await (const data of serverSentEvents(response, silence.signal)) {
        heard();
        if (data !== undefined) this.#deliver(data);
      }
    } catch (cause) {
      throw connectionError(SERVER, cause, SILENCE_MS);
    } finally {
      clearTimeout(timer);
      this.#ended.signal.removeEventListener('abort', end);
    }
  }

  /** Ignores notices that this version does not know. */
  #deliver(data: string): void {
    const given: unknown = JSON.parse(data);
    const isResync = isPlainObject(given) && given.type === 'resync';
    const notice = decodeNotice(given);
    for (const watcher of this.watchers) {
      if (isResync) watcher.resync();
      else if (notice !== undefined) watcher.push([notice]);
    }
  }
}

/** A refusal that may pass is a lost connection. */
async function feedRefusal(
  response: Response,
  mask: (text: string) => string,
): Promise<SessionError> {
  const { status, headers } = response;
  const retryAfter = headers.get('retry-after');
  const { error, isTransient } = refusalOf({
    status,
    retryAfter,
    text: mask(await response.text()),
  });
  if (!isTransient) return error;
  const lost = connectionError(SERVER, new Error(error.message), SILENCE_MS);
  noteRetryAfter(lost, retryAfter);
  return lost;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
