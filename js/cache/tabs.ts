import { newEventId } from '../model/event/create_event.js';
import type { SessionError } from '../errors/errors.js';
import type { StopWatching } from '../model/notice.js';
import type { CacheFeed } from './cache_feed.js';
import type { StatusMessage } from './records/status.js';

/** The messages between the tabs that share a cache, with their contents. */
interface TabMessages {
  /** The local data is erased. */
  readonly forget: [];
  /** A tab has opened the cache. */
  readonly opened: [];
  /** The status has changed. */
  readonly status: [StatusMessage];
  /** The tab that sent has nothing left to send. */
  readonly idle: [];
  /** What is unsent of a session or state has changed; see `nameOf`. */
  readonly changed: [name: string];
}

/** Called with the messages of other tabs. */
export type TabListeners = {
  readonly [Kind in keyof TabMessages]: (...content: TabMessages[Kind]) => void;
} & {
  /** Called when messages may have been missed, or the browser has lost the database. */
  readonly missed: () => void;
};

/** The tabs with the same cache. They tell each other what changes. A message may be lost. */
export class Tabs {
  /** The name of this tab. */
  readonly own = newEventId();
  readonly #feed: CacheFeed;

  constructor(feed: CacheFeed) {
    this.#feed = feed;
  }

  post<Kind extends keyof TabMessages>(kind: Kind, ...content: TabMessages[Kind]): void {
    this.#feed.postMessage([kind, this.own, ...content]);
  }

  /**
   * Receives the messages of the other tabs, until the returned function is called.
   *
   * @param onLoss gets why the browser has lost the database
   */
  listen(listeners: TabListeners, onLoss: (error: SessionError) => void): StopWatching {
    return this.#feed.listen((message) => {
      if (message === undefined) return listeners.missed();
      const [kind, tab, ...content] = message as [keyof TabMessages, string, ...unknown[]];
      // A tab of another version may know more kinds.
      const listener = Object.hasOwn(listeners, kind) ? listeners[kind] : undefined;
      if (tab !== this.own)
        (listener as ((...content: unknown[]) => void) | undefined)?.(...content);
    }, onLoss);
  }
}
