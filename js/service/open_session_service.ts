import { rules } from '#rules';
import { loadChunk } from '../core/wasm/loader/chunk.js';
import { loadWasm } from '../core/wasm/loading.js';
import type { StateShape } from '../values/state/state_shape.js';
import type { SessionService } from '../values/model/session_service.js';
import type { Storage } from '../core/storage/storage.js';
import { takeRequest } from '../core/call/call.js';
import type { IndexedDbSessionServiceOptions } from './indexed_db_session_service.js';
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
      /** `'memory'`, or a storage of your own. */
      storage: 'memory' | Storage;
    } & Partial<Record<DatabaseOption, undefined>>)
  | (IndexedDbSessionServiceOptions<S> & {
      /**
       * `'indexeddb'`: the browser's database. `'auto'`: that database if there is one, else
       * memory.
       */
      storage: 'indexeddb' | 'auto';
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
  const { storage, ...rest } = takeRequest(options);
  // Loaded on demand: a page with a storage of its own needs no more of the wasm than the rules.
  if (storage === 'indexeddb' || storage === 'auto' || storage === 'memory') {
    const { openInWasm } = await loadChunk(() => import('./wasm_services.js'));
    return openInWasm<S>(storage, rest);
  }
  const { overStorage } = await loadChunk(() => import('./over_storage.js'));
  await loadWasm(false, rules);
  return overStorage<S>(storage, rest);
}
