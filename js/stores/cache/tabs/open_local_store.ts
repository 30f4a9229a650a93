import { Feed } from '../../../core/watch/feed.js';
import { feedOfChannel } from '../../../core/watch/shared_feeds.js';
import { TabChannel, tabChannelOf } from '../../../core/watch/tab_channel.js';
import { IndexedDbLocalStore } from '../local_store/indexed_db_local_store.js';
import type { LocalStore } from '../local_store/local_store.js';
import { OwnerFlag } from '../local_store/owner_flag.js';
import { MemoryLocalStore } from '../local_store/memory_local_store.js';

/** What connects the tabs of an owner. */
interface TabConnection {
  /** The feed of the owner, which all tabs share. */
  readonly feed: Feed;
  readonly channel: TabChannel;
}

/** The connections by owner, for each storage that only this realm has. */
const CONNECTIONS = new WeakMap<LocalStore, Map<string, TabConnection>>();

/** The local storage of a cache, and what connects its tabs. */
interface OpenedStore extends TabConnection {
  readonly store: LocalStore;
  /** Tells whether the owner's data was lost. Absent: the storage loses nothing. */
  readonly flag?: OwnerFlag;
  readonly isDurable: boolean;
  /** Whether the cache closes the storage. */
  readonly isOwn: boolean;
}

/**
 * Opens the local storage that the option `local` names.
 *
 * @param onDeleted called when the browser may have deleted the database
 */
export function openLocalStore(
  given: 'indexeddb' | 'memory' | LocalStore | undefined,
  owner: string,
  onDeleted: () => void = () => undefined,
): OpenedStore {
  if (given === undefined || given === 'indexeddb') {
    // No database of `IndexedDbSessionService` has a channel of this name: theirs begin otherwise.
    const name = `adk-session-wasm cache:${JSON.stringify(owner)}`;
    const store = new IndexedDbLocalStore(onDeleted);
    const flag = new OwnerFlag(owner);
    return {
      store,
      flag,
      isDurable: true,
      isOwn: true,
      feed: feedOfChannel(name),
      channel: tabChannelOf(name),
    };
  }
  const isOwn = given === 'memory';
  const store = isOwn ? new MemoryLocalStore() : given;
  const connections = CONNECTIONS.get(store) ?? new Map<string, TabConnection>();
  CONNECTIONS.set(store, connections);
  const connection = connections.get(owner) ?? { feed: new Feed(), channel: new TabChannel() };
  connections.set(owner, connection);
  return { store, ...connection, isDurable: !(store instanceof MemoryLocalStore), isOwn };
}
