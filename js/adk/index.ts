/**
 * For programs on `@google/adk`: the same services as true `BaseSessionService`s of the framework, so
 * that changing one import is all there is to do.
 *
 * `import` gives them over the copy of the framework that `import` loads, `require` (Node 20.19 or 22.12
 * and later) over the one that `require` loads; for any other copy there is {@link adkSessionService}.
 *
 * @module adk-session-wasm/adk
 */
import { BaseSessionService } from '@google/adk';
import {
  adkSessionService,
  type FrameworkIndexedDbSessionService,
  type FrameworkInMemorySessionService,
} from './factory.js';

export * from './factory.js';

const services = adkSessionService(BaseSessionService);

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
export const InMemorySessionService = services.InMemorySessionService;
export type InMemorySessionService = FrameworkInMemorySessionService;

/**
 * The package's `IndexedDbSessionService` as one of the framework: pass it to a `Runner` in a page or
 * worker, and conversations outlive it.
 *
 * It takes the options of the package's own service. Only `stale` has another default, `'append'`: a
 * turn that is running must not see foreign events in its middle.
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
export type IndexedDbSessionService = FrameworkIndexedDbSessionService;

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
export const openSessionService = services.openSessionService;

/**
 * Any other service of this package, for a `Runner`: whatever fulfils its `BaseSessionService`. The
 * service is made with the options that it is given, so that it asks the framework for the order of its
 * parallel agents' writes; a promise of one gives a promise.
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from '@google/adk';
 * import { InMemorySessionService, State } from 'adk-session-wasm';
 * import { overService } from 'adk-session-wasm/adk';
 *
 * // Tells of what the agents change.
 * class LoudSessionService extends InMemorySessionService {
 *   override appendEvent(request: Parameters<InMemorySessionService['appendEvent']>[0]) {
 *     console.log(new State(request.event.actions.stateDelta).toRecord());
 *     return super.appendEvent(request);
 *   }
 * }
 *
 * const sessionService = overService((options) => new LoudSessionService({ ...options }));
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({ appName: 'shop', agent, sessionService });
 * ```
 */
export const overService = services.overService;
