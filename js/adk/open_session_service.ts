import { loadWasm } from '../core.js';
import { requireRequest } from '../service/call.js';
import { openDatabase, type OpenSessionServiceOptions } from '../service/open_session_service.js';
import { overAdapter } from '../service/over_adapter.js';
import type { SessionServiceOptions } from '../service/service_options.js';
import type { StorageAdapter } from '../storage/adapter.js';
import { FrameworkSessionService } from './framework_session_service.js';
import { InMemorySessionService } from './in_memory_session_service.js';
import { IndexedDbSessionService } from './indexed_db_session_service.js';

class AdapterSessionService extends FrameworkSessionService {
  constructor(storage: StorageAdapter, { stale = 'append', ...options }: SessionServiceOptions) {
    super((writer) => overAdapter(storage, { stale, ...options }, writer));
  }
}

/**
 * The package's `openSessionService`, for a `Runner`: the same options, the same choice and the
 * same failures. Only `stale` has another default, `'append'`.
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from '@google/adk';
 * import { openSessionService } from 'adk-session-wasm/adk';
 *
 * const sessionService = await openSessionService({ storage: 'auto', name: 'my-shop' });
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({ appName: 'shop', agent, sessionService });
 * ```
 */
export async function openSessionService(
  options: OpenSessionServiceOptions,
): Promise<FrameworkSessionService> {
  requireRequest(options);
  if (options.storage === 'indexeddb' || options.storage === 'auto') {
    const { storage } = options;
    const database = new IndexedDbSessionService(options);
    return openDatabase(storage, database, () => new InMemorySessionService(options));
  }
  await loadWasm();
  if (options.storage === 'memory') return new InMemorySessionService(options);
  return new AdapterSessionService(options.storage, options);
}
