import { Feed } from '../watch/feed.js';
import type { Watcher } from '../watch/watcher.js';
import type { Connection } from './connection/connection.js';
import { subscribe, type Subscription } from './subscription.js';

/**
 * Gets the notices of the server, and keeps to itself those of this service: the server sends them too. Watchers
 * of a user and of its sessions share one connection. The first begins with `resync`, because changes may have
 * been missed before it was open. A later one continues where the one before was cut.
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
    const ended = new AbortController();
    watcher.onEnd(() => ended.abort());
    subscribe(this.#subscriptions, this.#connection, watcher, ended.signal, this.#onError);
  }
}
