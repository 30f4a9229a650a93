import type { StateOwner } from '../../core/storage/scopes.js';
import { Feed } from '../../core/watch/feed.js';
import type { Watcher } from '../../core/watch/watcher.js';
import type { Notice } from '../../values/model/notice.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { keyText } from '../../values/model/values/ids.js';
import type { HttpConnection } from './connection/connection.js';
import { RunReports } from './run_reports.js';
import { Subscription, type SubscriptionParts } from './subscription.js';

/**
 * Gets the notices of the server, and keeps to itself those of this service: the server sends them too. Watchers
 * of a user and of its sessions share one connection. The first begins with `resync`, because changes may have
 * been missed before it was open. A later one continues where the one before was cut.
 *
 * `adk api_server` has no notices. There the feed delivers what this service has done, and watchers hear `resync` when
 * the page gets the focus.
 */
export class RemoteFeed extends Feed {
  readonly #connection: HttpConnection;
  /** The server's reports of runs. They come only while anyone watches. */
  readonly runs = new RunReports();
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #onError: (error: unknown) => void;
  readonly #asking: () => Promise<void>;
  readonly #openListeners = new Set<() => void>();

  /**
   * @param onError gets the errors of feeds
   * @param asking see {@link SubscriptionParts}
   */
  constructor(
    connection: HttpConnection,
    onError: (error: unknown) => void,
    asking: SubscriptionParts['asking'],
  ) {
    super();
    this.#asking = asking;
    this.#connection = connection;
    this.#onError = onError;
  }

  override get hasReceivers(): boolean {
    return this.#connection.kind?.isHandler === false;
  }

  override publish(notices: readonly Notice[]): void {
    // A handler publishes them itself.
    if (this.hasReceivers) for (const notice of notices) this.#deliver(notice);
  }

  /** Notes that a run of `adk api_server` has changed a session. Those who watch the session alone follow its run. */
  noteRun(key: CompositeSessionKey): void {
    const isMeant = ({ request }: Watcher): boolean => request.sessionId === undefined;
    if (this.hasReceivers) this.#deliver({ type: 'updated', ...key }, isMeant);
  }

  #deliver(notice: Notice, isMeant?: (watcher: Watcher) => boolean): void {
    let told = notice;
    if (notice.type === 'created' || notice.type === 'appended') {
      const { appName, userId, sessionId } = notice;
      // Without revisions, a second one would count as old.
      told = { type: 'updated', appName, userId, sessionId };
    }
    for (const each of this.#subscriptions.values()) each.deliver([told], isMeant);
  }

  override isOpenFor(owner: StateOwner): boolean {
    return this.#subscriptions.get(keyText(owner))?.isOpen === true;
  }

  override onOpen(listener: () => void): () => void {
    this.#openListeners.add(listener);
    return () => void this.#openListeners.delete(listener);
  }

  override add(watcher: Watcher): void {
    // A browser has few connections to a server, and each feed takes one for good.
    const { appName, userId } = watcher.request;
    const name = keyText({ appName, userId });
    const subscription =
      this.#subscriptions.get(name) ??
      new Subscription(
        {
          connection: this.#connection,
          runs: this.runs,
          onError: this.#onError,
          onOpen: () => {
            for (const listener of [...this.#openListeners]) listener();
          },
          asking: this.#asking,
        },
        { appName, userId },
      );
    this.#subscriptions.set(name, subscription);
    subscription.add(watcher, () => {
      this.#subscriptions.delete(name);
      this.runs.end({ appName, userId });
    });
  }
}
