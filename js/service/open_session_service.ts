import { loadChunk } from '../core/wasm/loader/chunk.js';
import { loadWasm } from '../core/wasm/loading.js';
import { isSessionError } from '../values/errors/errors.js';
import type { StateShape } from '../values/state/state_shape.js';
import type { SessionService } from '../values/model/session_service.js';
import type { StorageInfo } from '../values/model/storage_info.js';
import type { Storage } from '../core/storage/storage.js';
import { takeRequest } from '../core/call/call.js';
import { InMemorySessionService } from './in_memory_session_service.js';
import {
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
} from './indexed_db_session_service.js';
import type { OwnStorageOptions } from './over_storage.js';
import type { SessionServiceOptions } from './service_options.js';
import type { StoredSessionService } from './stored_session_service.js';

/** The options that only IndexedDB has. */
type DatabaseOption = Exclude<keyof IndexedDbSessionServiceOptions, keyof SessionServiceOptions>;

/**
 * The storage, and the options of the service over it. The options that only
 * {@link IndexedDbSessionService} has are allowed only where the storage may be IndexedDB.
 */
export type OpenSessionServiceOptions<S extends object = StateShape> =
  | (SessionServiceOptions<S> & {
      /** Memory. */
      storage: 'memory';
      /** Only a storage of your own may have a channel. */
      channel?: undefined;
    } & Partial<Record<DatabaseOption, undefined>>)
  | (SessionServiceOptions<S> &
      OwnStorageOptions & {
        /** A storage of your own. */
        storage: Storage;
      } & Partial<Record<DatabaseOption, undefined>>)
  | (IndexedDbSessionServiceOptions<S> & {
      /**
       * `'indexeddb'`: the browser's database. `'auto'`: that database if there is one, else
       * memory.
       */
      storage: 'indexeddb' | 'auto';
      /** Only a storage of your own may have a channel. */
      channel?: undefined;
    });

/** A session service, with the files of its sessions if it has the option `artifacts`. */
export type OpenedSessionService<S extends object = StateShape> = SessionService<S> &
  Pick<StoredSessionService<S>, 'artifacts'>;

/**
 * Opens a session service over a storage that is chosen at run time.
 *
 * `'auto'` uses memory only if there is no IndexedDB at all (`storage_unavailable`). The host has
 * none, or forbids it, as some private modes and policies do. `service.storage` is then
 * `{ kind: 'memory', durable: false, reason }`.
 *
 * Every other failure rejects, because a database may exist that holds the user's sessions. With an
 * empty memory in its place they would seem lost. The errors are `storage_blocked` (ask to close
 * the other tabs), `storage_newer` (reload), `quota_exceeded` and `connection_lost`. To go on
 * without the database, open `'memory'`.
 *
 * @throws SessionError (as a rejection) `invalid_argument`; the reason why the database cannot be
 *   opened; `wasm_unavailable`, so that a page whose policy forbids WebAssembly learns it here and
 *   not at its first call
 *
 * @example
 * ```ts
 * import { openSessionService } from 'adk-session-wasm';
 *
 * const service = await openSessionService({ storage: 'auto', name: 'my-shop' });
 * const { durable, reason } = service.storage;
 * if (!durable) console.warn(`This conversation ends with the page: ${reason}`);
 * ```
 */
export async function openSessionService<S extends object = StateShape>(
  options: OpenSessionServiceOptions<S>,
): Promise<OpenedSessionService<S>> {
  const all = takeRequest(options);
  if (all.storage === 'indexeddb' || all.storage === 'auto') {
    const { storage, ...rest } = all;
    const database = new IndexedDbSessionService<S>(rest);
    const inMemory = () => new InMemorySessionService<S>(rest);
    return openDatabase(storage, database, inMemory);
  }
  const { storage, ...taken } = all;
  await loadWasm();
  if (storage === 'memory') return new InMemorySessionService<S>(taken);
  const { overStorage } = await loadChunk(() => import('./over_storage.js'));
  return overStorage<S>(storage, taken);
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
