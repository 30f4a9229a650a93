import { Feed } from '../watch/feed.js';
import type { Watcher } from '../watch/watcher.js';
import type { Connection } from './connection/connection.js';
import type { Subscription } from './subscription.js';

/** The watchers of one app, user or session. */
interface Group {
  readonly watchers: Set<Watcher>;
  /** Ends the connection of the group. */
  readonly ended: AbortController;
}

/**
 * Gets the notices of the server, and keeps to itself those of this service: the server sends them too. Watchers
 * of the same session, user or app share one connection. Each connection begins with `resync`, because changes may
 * have been missed before it was open.
 */
export class RemoteFeed extends Feed {
  readonly #connection: Connection;
  readonly #groups = new Map<string, Group>();
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
    const group = this.#groups.get(name) ?? this.#open(name, watcher);
    const { watchers, ended } = group;
    watchers.add(watcher);
    watcher.onEnd(() => {
      watchers.delete(watcher);
      if (watchers.size > 0) return;
      this.#groups.delete(name);
      ended.abort();
    });
  }

  #open(name: string, { request }: Watcher): Group {
    const group = { watchers: new Set<Watcher>(), ended: new AbortController() };
    this.#groups.set(name, group);
    const subscription: Subscription = {
      ...{ connection: this.#connection, request, onError: this.#onError },
      watchers: group.watchers,
      signal: group.ended.signal,
    };
    // Loaded on demand: a page that watches nothing does not need it.
    void import('./subscription.js')
      .then(({ runSubscription }) => runSubscription(subscription))
      .catch((error: unknown) => {
        this.#onError(error);
        for (const watcher of [...group.watchers]) watcher.finish();
      });
    return group;
  }
}
