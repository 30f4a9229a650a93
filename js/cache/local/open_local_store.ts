import { Feed } from '../../watch/feed.js';
import { feedOfDatabase } from '../../watch/shared_feeds.js';
import { IndexedDbLocalStore } from './indexed_db_local_store.js';
import type { LocalStore } from './local_store.js';
import { MemoryLocalStore } from './memory_local_store.js';

/** The feeds of the owners of a storage that only this realm has. */
const FEEDS = new WeakMap<LocalStore, Map<string, Feed>>();

/** The local storage of a cache, and what connects its tabs. */
interface OpenedStore {
  readonly store: LocalStore;
  /** The feed of the owner, which all tabs share. */
  readonly feed: Feed;
  readonly isDurable: boolean;
  /** Whether the cache closes the storage. */
  readonly isOwn: boolean;
}

/** Opens the local storage that the option `local` names. */
export function openLocalStore(
  given: 'indexeddb' | 'memory' | LocalStore | undefined,
  owner: string,
): OpenedStore {
  if (given === undefined || given === 'indexeddb') {
    const feed = feedOfDatabase(`cache ${owner}`);
    return { store: new IndexedDbLocalStore(), feed, isDurable: true, isOwn: true };
  }
  const isOwn = given === 'memory';
  const store = isOwn ? new MemoryLocalStore() : given;
  const feeds = FEEDS.get(store) ?? new Map<string, Feed>();
  FEEDS.set(store, feeds);
  const feed = feeds.get(owner) ?? new Feed();
  feeds.set(owner, feed);
  return { store, feed, isDurable: !(store instanceof MemoryLocalStore), isOwn };
}
