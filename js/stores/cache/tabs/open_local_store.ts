import { Feed } from '../../../core/watch/feed.js';
import { feedOfChannel } from '../../../core/watch/shared_feeds.js';
import { TabHub } from './tabs.js';
import { IndexedDbLocalStore } from '../local_store/indexed_db_local_store.js';
import type { LocalStore } from '../local_store/local_store.js';
import { OwnerMarker } from '../local_store/owner_marker.js';
import { MemoryLocalStore } from '../local_store/memory_local_store.js';

/** What connects the tabs of an owner. */
interface TabConnection {
  /** The feed of the owner, which all tabs share. */
  readonly feed: Feed;
  readonly hub: TabHub;
}

/** The connections by owner: for IndexedDB, and for each storage that only this realm has. */
const DATABASE_CONNECTIONS = new Map<string, TabConnection>();
const CONNECTIONS = new WeakMap<LocalStore, Map<string, TabConnection>>();

/** The local storage of a cache, and what connects its tabs. */
interface OpenedStore extends TabConnection {
  readonly store: LocalStore;
  /** Tells whether the owner's data was lost. Absent: the storage loses nothing. */
  readonly marker?: OwnerMarker;
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
    // No database of `IndexedDbSessionService` has channels of these names: theirs begin otherwise.
    const name = JSON.stringify(owner);
    const connection = connectionOf(DATABASE_CONNECTIONS, owner, () => ({
      feed: feedOfChannel(`adk-session-wasm cache notices:${name}`),
      hub: new TabHub(`adk-session-wasm cache:${name}`),
    }));
    const store = new IndexedDbLocalStore(onDeleted);
    const marker = new OwnerMarker(owner);
    return { store, marker, ...connection, isDurable: true, isOwn: true };
  }
  const isOwn = given === 'memory';
  const store = isOwn ? new MemoryLocalStore() : given;
  const connections = CONNECTIONS.get(store) ?? new Map<string, TabConnection>();
  CONNECTIONS.set(store, connections);
  const connection = connectionOf(connections, owner, () => ({
    feed: new Feed(),
    hub: new TabHub(),
  }));
  return { store, ...connection, isDurable: !(store instanceof MemoryLocalStore), isOwn };
}

function connectionOf(
  connections: Map<string, TabConnection>,
  owner: string,
  connect: () => TabConnection,
): TabConnection {
  const connection = connections.get(owner) ?? connect();
  connections.set(owner, connection);
  return connection;
}
