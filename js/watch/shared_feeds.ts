import { Feed } from './feed.js';
import { TabChannel, type TabHost } from './tab_channel.js';

/** One feed a database of this realm; a channel delivers nothing to the realm it was sent from. */
const ofDatabases = new Map<string, Feed>();
const ofAdapters = new WeakMap<object, Feed>();

/**
 * The feed of an IndexedDB database: of all services of this realm over it, and of the other tabs.
 *
 * @param host for a test
 */
export function feedOfDatabase(name: string, host?: TabHost): Feed {
  let feed = ofDatabases.get(name);
  if (feed === undefined) {
    feed = new Feed((feed) => new TabChannel(`adk-session-wasm:${name}`, feed, host));
    ofDatabases.set(name, feed);
  }
  return feed;
}

/**
 * The feed of an adapter: of all services of this realm over that object. Who else writes to what lies
 * below it, only its author can know.
 */
export function feedOfAdapter(adapter: object): Feed {
  let feed = ofAdapters.get(adapter);
  if (feed === undefined) ofAdapters.set(adapter, (feed = new Feed()));
  return feed;
}
