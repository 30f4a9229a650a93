import { Feed } from './feed.js';
import { TabChannel, type TabHost } from './tab_channel.js';

/** One feed for each database of this realm: a channel delivers nothing to the realm that sent it. */
const databaseFeeds = new Map<string, Feed>();
const storageFeeds = new WeakMap<object, Feed>();

/**
 * Returns the feed of an IndexedDB database, shared by all services of this realm over it, and connected with
 * the other tabs.
 *
 * @param host replaced in tests
 */
export function feedOfDatabase(name: string, host?: TabHost): Feed {
  let feed = databaseFeeds.get(name);
  if (feed === undefined) {
    feed = new Feed((feed) => new TabChannel(`adk-session-wasm:${name}`, feed, host));
    databaseFeeds.set(name, feed);
  }
  return feed;
}

/**
 * Returns the feed of a storage, shared by all services of this realm over that object. Other writers to it
 * are not known here.
 */
export function feedOfStorage(storage: object): Feed {
  let feed = storageFeeds.get(storage);
  if (feed === undefined) storageFeeds.set(storage, (feed = new Feed()));
  return feed;
}
