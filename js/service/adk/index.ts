/**
 * Session services for programs that use `@google/adk`: each one extends the framework's
 * `BaseSessionService`. To use them, change one import. {@link asAdkService} makes one of any other service: a
 * `Runner` that has a service of this package without it fails at its first append, with `unsupported`.
 *
 * They extend the class of the copy of the framework that `import` loads. For the CommonJS copy, which `require`
 * loads, and for any other copy, use {@link adkSessionService}.
 *
 * @module adk-session-wasm/adk
 */
import { BaseSessionService, version } from '@google/adk';
import {
  adkSessionService,
  type FrameworkInMemorySessionService,
  type FrameworkSessionService,
} from './factory.js';
import { noteFrameworkVersion } from './framework_version.js';

export * from './factory.js';

noteFrameworkVersion(version);
const services = adkSessionService(BaseSessionService);

/**
 * This package's replacement for the framework's `InMemorySessionService`: pass it to a `Runner`.
 *
 * It takes the options of the package's own service. Only `stale` has another default, `'append'`: a
 * running turn must not see events of others before it ends.
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
export const InMemorySessionService = services.InMemorySessionService;
export type InMemorySessionService = FrameworkInMemorySessionService;

/**
 * This package's `IndexedDbSessionService` as a service of the framework. Pass it to a `Runner` in a page or
 * worker: its sessions remain when the page or worker ends.
 *
 * It takes the options of the package's own service. Only `stale` has another default, `'append'`: a
 * running turn must not see events of others before it ends.
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from '@google/adk';
 * import { IndexedDbSessionService } from 'adk-session-wasm/adk';
 *
 * const sessionService = new IndexedDbSessionService({ name: 'my-shop' });
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({ appName: 'shop', agent, sessionService });
 * ```
 */
export const IndexedDbSessionService = services.IndexedDbSessionService;
export type IndexedDbSessionService = FrameworkSessionService;

/**
 * This package's `openSessionService`, for a `Runner`: it takes the same options, makes the same choice, and
 * reports the same errors. Only the default of `stale` differs: `'append'`.
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
export const openSessionService = services.openSessionService;

/**
 * Makes any other service of this package one of the framework's, as well as your own implementation of its
 * `SessionService`. The result is a view: the given service stays as it is. Appends through the view take
 * the order of parallel agents' writes from the framework.
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from '@google/adk';
 * import { type AppendEventRequest, InMemorySessionService, type NewEvent, type StateShape } from 'adk-session-wasm';
 * import { asAdkService } from 'adk-session-wasm/adk';
 *
 * // Prints what the agents change.
 * class LoudSessionService extends InMemorySessionService {
 *   override appendEvent<E extends NewEvent>(request: AppendEventRequest<StateShape, E>) {
 *     console.log(request.event.actions?.stateDelta);
 *     return super.appendEvent(request);
 *   }
 * }
 *
 * const sessionService = asAdkService(new LoudSessionService());
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({ appName: 'shop', agent, sessionService });
 * ```
 */
export const asAdkService = services.asAdkService;
