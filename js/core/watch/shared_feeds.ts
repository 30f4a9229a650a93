import { Feed } from './feed.js';
import { tabChannelOf, type TabHost } from './tab_channel.js';

/** One feed for each channel of this realm. */
const channelFeeds = new Map<string, Feed>();
const storageFeeds = new WeakMap<object, Feed>();

/**
 * Returns the feed of an IndexedDB database, shared by all services of this realm over it, and connected with
 * the other tabs.
 *
 * @param host replaced in tests
 */
export function feedOfDatabase(name: string, host?: TabHost): Feed {
  return feedOfChannel(`adk-session-wasm:${name}`, host);
}

/** Returns the feed that a channel connects with the other tabs, shared by all services of this realm. */
export function feedOfChannel(name: string, host?: TabHost): Feed {
  let feed = channelFeeds.get(name);
  if (feed === undefined) {
    feed = new Feed(tabChannelOf(name, host));
    channelFeeds.set(name, feed);
  }
  return feed;
}

/**
 * Returns the feed of a storage, shared by all services of this realm over that object. Without a channel, other writers
 * to it are not known here.
 *
 * @param make makes the feed for the first service
 */
export function feedOfStorage(storage: object, make: () => Feed): Feed {
  let feed = storageFeeds.get(storage);
  if (feed === undefined) storageFeeds.set(storage, (feed = make()));
  return feed;
}
