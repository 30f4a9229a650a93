import { newEventId } from '../model/event/create_event.js';
import { SessionError } from '../errors/errors.js';
import type { Feed } from '../watch/feed.js';
import type { Notice, StopWatching } from '../model/notice.js';
import { Watcher } from '../watch/watcher.js';
import type { CacheFailure, StatusMessage } from './records/status.js';

/** The app that stands for the messages in the feed. No app's name begins so. */
const MESSAGES = '\0adk-session-wasm cache';

/** The messages between the tabs that share a cache, with their contents. */
interface TabMessages {
  /** The local data of a client was erased; `''` if there was none. */
  readonly forget: [client: string];
  /** A tab has opened the cache. */
  readonly opened: [];
  /** The status has changed. */
  readonly status: [StatusMessage];
  /** A call waits for what the leading tab sends. */
  readonly wake: [];
  /** The leading tab could not send. */
  readonly failed: [CacheFailure];
  /** The leading tab is closed. */
  readonly closed: [];
  /** The operations of a session or state have changed; see `nameOf`. */
  readonly changed: [name: string];
  /** A tab reads the sessions of a user. The leading tab follows them. */
  readonly reads: [name: string];
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
  readonly #feed: Feed;

  constructor(feed: Feed) {
    this.#feed = feed;
  }

  post<Kind extends keyof TabMessages>(kind: Kind, ...content: TabMessages[Kind]): void {
    const userId = JSON.stringify([kind, this.own, ...content]);
    this.#feed.publish([{ type: 'stateChanged', scopes: ['user'], appName: MESSAGES, userId }]);
  }

  /**
   * Receives the messages of the other tabs, until the returned function is called.
   *
   * @param onLoss gets why the browser has lost the database
   */
  listen(listeners: TabListeners, onLoss: (error: SessionError) => void): StopWatching {
    const watcher = new Watcher({ appName: MESSAGES }, (notice: Notice) => {
      if (notice.type === 'lost') onLoss(new SessionError('storage_failed', notice.message));
      if (notice.type === 'resync' || notice.type === 'lost') return listeners.missed();
      if (notice.userId === undefined) return;
      const message = JSON.parse(notice.userId) as [keyof TabMessages, string, ...unknown[]];
      const [kind, tab, ...content] = message;
      // A tab of another version may know more kinds.
      const listener = Object.hasOwn(listeners, kind) ? listeners[kind] : undefined;
      if (tab === this.own) return;
      (listener as ((...content: unknown[]) => void) | undefined)?.(...content);
    });
    this.#feed.add(watcher);
    return watcher.stop;
  }
}
