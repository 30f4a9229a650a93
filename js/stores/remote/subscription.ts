import { backoff } from '../../core/call/scheduling.js';
import { onAbort, TimeLimit } from '../../core/call/time_limit.js';
import { isSessionError } from '../../values/errors/errors.js';
import { pause } from '../http/call_limit.js';
import { connectionError, hasStatus, isTransient, retryAfterOf } from '../http/http_errors.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import { decodeNotice } from '../../core/watch/notice_messages.js';
import type { Watcher } from '../../core/watch/watcher.js';
import type { Notice } from '../../values/model/notice.js';
import { type HttpConnection, pathOf } from './connection/connection.js';
import { SERVER } from './connection/response_error.js';
import { openStream, serverSentEvents, SILENCE_MS } from './connection/server_sent_events.js';
import type { RunReports } from './run_reports.js';
import { parseJson } from '../../values/json/parse.js';

/** First and longest pause before a feed is opened again, in milliseconds. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 30_000;
/**
 * The number of pauses that grow while the server cannot be reached. The last one takes 2 seconds at most, so that
 * changes arrive within 3 seconds after the server is back.
 */
const GROWING_PAUSES = 3;

/** What the subscriptions of a feed share. */
export interface SubscriptionParts {
  readonly connection: HttpConnection;
  /** Gets the server's reports of runs. */
  readonly runs: RunReports;
  /** Gets the errors of the connection. */
  readonly onError: (error: unknown) => void;
  /** Called each time a feed has opened. */
  readonly onOpen: () => void;
  /** Waits until the kind of the server is known, if anyone asks for it. */
  readonly asking: () => Promise<void>;
}

/** A connection to the change feed of an app or a user. The watchers of its sessions share it. */
export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #owner: Readonly<StateOwner>;
  readonly #watchers = new Set<Watcher>();
  readonly #ended = new AbortController();
  /** Id of the last event. The server begins with `resync` if it does not know it. */
  #lastEventId = '0';
  #isOpen = false;

  /** @param owner without `userId`, all users of the app are watched */
  constructor(parts: SubscriptionParts, owner: StateOwner) {
    this.#parts = parts;
    this.#owner = owner;
  }

  /** Whether the server sends notices now. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Delivers the notices of the server to a watcher. The first one opens the connection.
   *
   * @param onIdle called when the last watcher has ended
   */
  add(watcher: Watcher, onIdle: () => void): void {
    const isFirst = this.#watchers.size === 0;
    this.#watchers.add(watcher);
    watcher.onEnd(() => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      this.#ended.abort();
      onIdle();
    });
    if (!isFirst) return;
    void this.#run().catch((error: unknown) => {
      this.#parts.onError(error);
      this.#finish();
    });
  }

  #finish(): void {
    for (const each of [...this.#watchers]) each.finish();
  }

  /**
   * Reads the change feed, and opens it again when it breaks, until the subscription ends.
   *
   * @throws SessionError (as a rejection) if the server refuses the feed for good
   */
  async #run(): Promise<void> {
    const { signal } = this.#ended;
    let lastPause = 0;
    let wasUnauthorized = false;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      let openedAt = Infinity;
      let atLeast = 0;
      let isUnauthorized = false;
      try {
        if (this.#owner.userId !== undefined) await this.#parts.asking();
        if (signal.aborted) return;
        if (this.#parts.connection.kind?.isHandler === false) return this.#followFocus();
        await this.#readFeed(() => {
          openedAt = performance.now();
          this.#parts.onOpen();
        });
      } catch (error) {
        if (signal.aborted) return;
        isUnauthorized = hasStatus(error, 401);
        // The next attempt asks for another token, if this one has expired or there was none.
        const mayGetToken =
          (isUnauthorized && !wasUnauthorized) || isSessionError(error, 'storage_unavailable');
        if (!isTransient(error) && !mayGetToken) throw error;
        this.#parts.onError(error);
        atLeast = retryAfterOf(error);
      }
      if (signal.aborted) return;
      wasUnauthorized = isUnauthorized;
      // A feed that breaks as soon as it is open is no success: each one may make the watchers read everything again.
      if (performance.now() - openedAt > lastPause) attempt = 0;
      else if (openedAt === Infinity) attempt = Math.min(attempt, GROWING_PAUSES);
      lastPause = Math.max(backoff(attempt, FIRST_PAUSE, LONGEST_PAUSE), atLeast);
      await pause(lastPause, signal).catch(() => undefined);
    }
  }

  /**
   * Follows `adk api_server`, which has no feed. A user who comes back to the page sees what others have changed. It
   * lists no sessions of an app.
   */
  #followFocus(): void {
    if (this.#owner.userId === undefined) return this.#finish();
    const resync = (): void => this.deliver([{ type: 'resync' }]);
    globalThis.addEventListener?.('focus', resync);
    onAbort(this.#ended.signal, () => globalThis.removeEventListener?.('focus', resync));
  }

  /**
   * Reads one response to its end.
   *
   * @param onOpen called when the server has sent something of a feed
   */
  async #readFeed(onOpen: () => void): Promise<void> {
    const { signal } = this.#ended;
    const { appName, userId } = this.#owner;
    const user = userId === undefined ? '' : pathOf('users', userId);
    const path = `${pathOf('apps', appName)}${user}/changes`;
    const silence = new TimeLimit(SILENCE_MS, () => new Error('it is silent'));
    silence.follow(signal);
    try {
      const headers = { 'last-event-id': this.#lastEventId };
      const feed = { method: 'GET', path } as const;
      const { response } = await openStream(this.#parts.connection, feed, silence.signal, headers);
      let isFeed = false;
      const onId = (id: string): void => void (this.#lastEventId = id);
      for await (const data of serverSentEvents(response, silence.signal, onId)) {
        silence.restart();
        if (!isFeed) onOpen();
        isFeed = this.#isOpen = true;
        if (data !== undefined) this.#receive(parseJson(data));
      }
      // For example the page of a proxy, with status 200.
      if (!isFeed) throw new Error('the response is no feed of changes; check the url and proxies');
    } catch (cause) {
      throw connectionError(SERVER, cause, SILENCE_MS);
    } finally {
      this.#isOpen = false;
      silence.end();
      silence.abort();
    }
  }

  /** Ignores notices that this version does not know. */
  #receive(data: unknown): void {
    const { runs } = this.#parts;
    if (runs.receive(data, this.#owner)) return;
    const notice = decodeNotice(data);
    if (notice === undefined) return;
    if (notice.type === 'deleted') runs.forget(notice);
    this.deliver([notice]);
  }

  /** @param isMeant which watchers get the notices, if they match. Default: all */
  deliver(notices: readonly Notice[], isMeant: (watcher: Watcher) => boolean = () => true): void {
    for (const watcher of [...this.#watchers].filter(isMeant)) watcher.push(notices);
  }
}
