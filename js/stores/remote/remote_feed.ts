import type { StateOwner } from '../../core/storage/scopes.js';
import { Feed } from '../../core/watch/feed.js';
import type { Watcher } from '../../core/watch/watcher.js';
import { sessionName } from '../../values/model/values/session_name.js';
import type { HttpConnection } from './connection/connection.js';
import { RunReports } from './run_reports.js';
import { Subscription } from './subscription.js';

/**
 * Gets the notices of the server, and keeps to itself those of this service: the server sends them too. Watchers
 * of a user and of its sessions share one connection. The first begins with `resync`, because changes may have
 * been missed before it was open. A later one continues where the one before was cut.
 */
export class RemoteFeed extends Feed {
  readonly #connection: HttpConnection;
  /** The server's reports of runs. They come only while anyone watches. */
  readonly runs = new RunReports();
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #onError: (error: unknown) => void;

  /** @param onError gets the errors of feeds */
  constructor(connection: HttpConnection, onError: (error: unknown) => void) {
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

  override isOpenFor(owner: StateOwner): boolean {
    return this.#subscriptions.get(sessionName(owner))?.isOpen === true;
  }

  override add(watcher: Watcher): void {
    // A browser has few connections to a server, and each feed takes one for good.
    const { appName, userId } = watcher.request;
    const name = sessionName({ appName, userId });
    const subscription =
      this.#subscriptions.get(name) ??
      new Subscription(this.#connection, { appName, userId }, this.runs, this.#onError);
    this.#subscriptions.set(name, subscription);
    subscription.add(watcher, () => {
      this.#subscriptions.delete(name);
      this.runs.end({ appName, userId });
    });
  }
}
