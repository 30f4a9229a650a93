import type { PublishedNotice } from './notice.js';
import type { TabChannel } from './tab_channel.js';
import type { Watcher } from './watcher.js';

/**
 * Delivers notices of changes to all watchers of one storage in this realm. All services over that storage
 * publish to it. Over IndexedDB, a channel also connects it with the other tabs.
 *
 * The storage calls {@link Feed.resync} when it may have missed changes, for example after a lost connection
 * was reopened.
 */
export class Feed {
  readonly #watchers = new Set<Watcher>();
  readonly #channel: TabChannel | undefined;
  #users = 0;

  /** @param open opens the channel to the other tabs, which passes incoming notices to this feed */
  constructor(open?: (feed: Feed) => TabChannel) {
    this.#channel = open?.(this);
  }

  /** Whether anyone may want to know of a change. */
  get isHeard(): boolean {
    return this.#watchers.size > 0 || this.#channel !== undefined;
  }

  /** Counts one more service. The channel is closed when the last one releases the feed. */
  retain(): void {
    this.#users += 1;
    this.#channel?.start();
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#channel?.close();
  }

  /** Delivers notices to the watcher from now on, until it has ended. */
  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    watcher.whenEnded(() => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#channel?.listen(false);
    });
    this.#channel?.listen(true);
  }

  /** Publishes committed changes, here and in other tabs. */
  publish(notices: readonly PublishedNotice[]): void {
    if (notices.length === 0) return;
    this.hear(notices);
    this.#channel?.send(notices);
  }

  /** Delivers notices to the watchers of this realm. */
  hear(notices: readonly PublishedNotice[]): void {
    for (const watcher of this.#watchers) watcher.push(notices);
  }

  /** Tells the watchers of this realm that they may have missed changes. */
  resync(): void {
    for (const watcher of this.#watchers) watcher.resync();
  }
}
