import { loadWasm } from '../core.js';
import { SessionError } from '../errors.js';
import { kindOf } from '../json/rules.js';
import type { StateShape } from '../session.js';
import type { StorageAdapter } from '../storage/adapter.js';
import { Bridge } from '../storage/bridge.js';
import { feedOfAdapter } from '../watch/shared_feeds.js';
import { requireRequest } from './call.js';
import { InMemorySessionService } from './in_memory_session_service.js';
import { type SessionServiceOptions, StoredSessionService } from './stored_session_service.js';

/**
 * Which storage, and the options of the service over it.
 *
 * @example
 * ```ts
 * import type { OpenSessionServiceOptions } from 'adk-session-wasm';
 *
 * const options: OpenSessionServiceOptions = { storage: 'memory', stale: 'append' };
 * ```
 */
export interface OpenSessionServiceOptions extends SessionServiceOptions {
  /** `'memory'`, or an adapter of your own. */
  storage: 'memory' | StorageAdapter;
}

const VERBS = ['create', 'append', 'read', 'list', 'delete'] as const;

/**
 * Opens a session service over the storage that is chosen at run time.
 *
 * @throws SessionError (as a rejection) `invalid_argument`; `wasm_unavailable`, so that a page whose
 * policy forbids WebAssembly learns it here and not at its first call
 *
 * @example
 * ```ts
 * import { openSessionService } from 'adk-session-wasm';
 *
 * const service = await openSessionService({ storage: 'memory' });
 * console.log(service.storage.kind); // 'memory'
 * ```
 */
export async function openSessionService<S extends StateShape = StateShape>(
  options: OpenSessionServiceOptions,
): Promise<StoredSessionService<S>> {
  requireRequest(options);
  const { storage } = options;
  await loadWasm();
  if (storage === 'memory') return new InMemorySessionService<S>(options);
  requireAdapter(storage);
  return new StoredSessionService<S>(
    {
      storage: { kind: storage.kind ?? 'custom', durable: storage.durable ?? true },
      bridge: new Bridge(storage),
      feed: feedOfAdapter(storage),
      closeStorage: () => storage.close?.(),
    },
    options,
  );
}

function requireAdapter(storage: unknown): asserts storage is StorageAdapter {
  if (typeof storage !== 'object' || storage === null) {
    const shown = typeof storage === 'string' ? JSON.stringify(storage) : kindOf(storage);
    throw new SessionError(
      'invalid_argument',
      `storage must be 'memory' or an adapter of your own; it is ${shown}.`,
      { key: 'storage' },
    );
  }
  const missing = VERBS.filter((verb) => typeof (storage as StorageAdapter)[verb] !== 'function');
  if (missing.length === 0) return;
  throw new SessionError(
    'invalid_argument',
    `The storage adapter lacks ${missing.join(', ')}: it must have the five verbs ${VERBS.join(', ')}.`,
    { key: 'storage' },
  );
}
