import type { PublishedNotice } from './notice.js';
import type { TabChannel } from './tab_channel.js';
import type { Watcher } from './watcher.js';

/**
 * Where the services of this realm that share a storage tell of changes, and their watchers hear of
 * them. Over IndexedDB with a channel to the other tabs, which hear it as well.
 *
 * The storage calls {@link Feed.resync} when it may have lost sight of others, as after a connection that
 * was lost and opened again.
 */
export class Feed {
  readonly #watchers = new Set<Watcher>();
  readonly #channel: TabChannel | undefined;
  #users = 0;

  /** @param open makes the channel, which hands on what comes in */
  constructor(open?: (feed: Feed) => TabChannel) {
    this.#channel = open?.(this);
  }

  /** Whether anybody may want to know of a change. */
  get isHeard(): boolean {
    return this.#watchers.size > 0 || this.#channel !== undefined;
  }

  /** One more service uses it; the channel is open no longer than any does. */
  retain(): void {
    this.#users += 1;
    this.#channel?.start();
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#channel?.close();
  }

  /** Listens from now on, until the watcher has ended. */
  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    watcher.whenEnded(() => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#channel?.listen(false);
    });
    this.#channel?.listen(true);
  }

  /** Tells of what was committed, here and in other tabs. */
  publish(notices: readonly PublishedNotice[]): void {
    if (notices.length === 0) return;
    this.hear(notices);
    this.#channel?.send(notices);
  }

  /** Tells the watchers here. */
  hear(notices: readonly PublishedNotice[]): void {
    for (const watcher of this.#watchers) watcher.push(notices);
  }

  /** Tells the watchers here that changes may have gone unheard. */
  resync(): void {
    for (const watcher of this.#watchers) watcher.resync();
  }
}
