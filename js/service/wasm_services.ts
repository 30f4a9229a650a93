/** The services that keep their data in the wasm, so they need all of it. Loaded on demand by `openSessionService`. */
import { loadWasm } from '../core/wasm/loading.js';
import { isSessionError } from '../values/errors/errors.js';
import type { StorageInfo } from '../values/model/storage_info.js';
import { InMemorySessionService } from './in_memory_session_service.js';
import {
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
} from './indexed_db_session_service.js';

/** Opens a service in memory or over IndexedDB. */
export async function openInWasm<S extends object>(
  storage: 'memory' | 'indexeddb' | 'auto',
  options: IndexedDbSessionServiceOptions<S>,
): Promise<InMemorySessionService<S> | IndexedDbSessionService<S>> {
  const inMemory = () => new InMemorySessionService<S>(options);
  if (storage !== 'memory') {
    return openDatabase(storage, new IndexedDbSessionService<S>(options), inMemory);
  }
  await loadWasm();
  return inMemory();
}

/** The methods of a service that are needed to open its database. */
interface OpenedDatabase {
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the database. For `'auto'` returns the service in memory if there is no IndexedDB. */
export async function openDatabase<D extends OpenedDatabase, M extends { storage: StorageInfo }>(
  storage: 'indexeddb' | 'auto',
  database: D,
  inMemory: () => M,
): Promise<D | M> {
  try {
    await database.ping();
    return database;
  } catch (error) {
    // The error of `ping` is the useful one, so an error of `close` is ignored.
    await database.close().catch(() => undefined);
    if (storage === 'indexeddb' || !isSessionError(error, 'storage_unavailable')) throw error;
    const service = inMemory();
    service.storage.reason = error.message;
    return service;
  }
}
