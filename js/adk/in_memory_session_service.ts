import { InMemorySessionService as MemoryService } from '../service/in_memory_session_service.js';
import type { SessionServiceOptions } from '../service/service_options.js';
import { FrameworkSessionService } from './framework_session_service.js';

/**
 * The framework's `InMemorySessionService`, on this package: pass it to a `Runner`.
 *
 * It takes the options of the package's own service. Only `stale` has another default, `'append'`: a
 * turn that is running must not see foreign events in its middle.
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from '@google/adk';
 * import { InMemorySessionService } from 'adk-session-wasm/adk';
 *
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({
 *   appName: 'shop',
 *   agent,
 *   sessionService: new InMemorySessionService(),
 * });
 * ```
 */
export class InMemorySessionService extends FrameworkSessionService {
  constructor({ stale = 'append', ...options }: SessionServiceOptions = {}) {
    super((writer) => new MemoryService({ stale, ...options }, writer));
  }
}
