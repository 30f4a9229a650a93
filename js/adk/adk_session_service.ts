import type { BaseSessionService, ListSessionsResponse, Session } from '@google/adk';
import { ownMembers } from '../members/own.js';
import { requireOptions, copyRequest, describeValue } from '../call/call.js';
import { invalid } from '../errors/invalid.js';
import { InMemorySessionService as MemoryService } from '../service/in_memory_session_service.js';
import {
  type DeleteDatabaseOptions,
  IndexedDbSessionService as DatabaseService,
  type IndexedDbSessionServiceOptions,
} from '../service/indexed_db_session_service.js';
import {
  openSessionService as openService,
  type OpenSessionServiceOptions,
} from '../service/open_session_service.js';
import type { SessionServiceOptions } from '../service/service_options.js';
import type { StateWriter } from '../append/state_writer.js';
import type {
  Abortable,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ListSessionsPageRequest,
  ListSessionsRequest,
} from '../model/session.js';
import type { BaseSessionService as OurService } from '../model/session_service.js';
import {
  frameworkClass,
  type FrameworkSessionService,
  type FrameworkSessionsPage,
} from './framework_session_service.js';
import { FrameworkStateWriter } from './framework_state_writer.js';
import { acceptToolConfirmations } from './tool_confirmations.js';

/**
 * Options that a service of this package needs under the framework. Spread them into the options of your
 * service.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { type FrameworkOptions, overService } from 'adk-session-wasm/adk';
 *
 * const open = (options: FrameworkOptions) => new InMemorySessionService({ ...options });
 * const sessionService = overService(open);
 * ```
 */
export interface FrameworkOptions {
  /** Gets the order of parallel agents' writes from the framework. Use it for one service only. */
  readonly stateWriter: StateWriter;
  /** A running turn must not see events of others before it ends. */
  readonly stale: 'append';
}

/**
 * The in-memory service for the framework, with the same synchronous methods as the package's own.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm/adk';
 *
 * const sessionService = new InMemorySessionService();
 * const session = sessionService.createSessionSync({ appName: 'shop', userId: 'ada' });
 * ```
 */
export interface FrameworkInMemorySessionService extends FrameworkSessionService {
  /** Synchronous version of `createSession`. */
  createSessionSync(request: CreateSessionRequest): Session;
  /** Synchronous version of `getSession`. */
  getSessionSync(request: GetSessionRequest): Session | undefined;
  /** Synchronous version of `listSessions`. */
  listSessionsSync(request: ListSessionsRequest): ListSessionsResponse;
  /** Synchronous version of `listSessions` without the total. */
  listSessionsSync(request: ListSessionsPageRequest): FrameworkSessionsPage;
  /** Synchronous version of `deleteSession`. */
  deleteSessionSync(request: DeleteSessionRequest): void;
}

/**
 * This package's `IndexedDbSessionService` as a service of the framework.
 *
 * @example
 * ```ts
 * import { type FrameworkIndexedDbSessionService, IndexedDbSessionService } from 'adk-session-wasm/adk';
 *
 * const service: FrameworkIndexedDbSessionService = new IndexedDbSessionService({ name: 'my-shop' });
 * await service.open();
 * ```
 */
export interface FrameworkIndexedDbSessionService extends FrameworkSessionService {
  /** Opens the database now, to find out whether that works. Otherwise the first call opens it. */
  open(request?: Abortable): Promise<void>;
}

/**
 * The class of {@link FrameworkIndexedDbSessionService}.
 *
 * @example
 * ```ts
 * import { type FrameworkIndexedDbSessionServiceClass, IndexedDbSessionService } from 'adk-session-wasm/adk';
 *
 * async function forget(Service: FrameworkIndexedDbSessionServiceClass): Promise<void> {
 *   await Service.deleteDatabase('my-shop');
 * }
 * await forget(IndexedDbSessionService);
 * ```
 */
export interface FrameworkIndexedDbSessionServiceClass {
  /** @throws SessionError `invalid_argument` if an option is invalid */
  new (options?: IndexedDbSessionServiceOptions): FrameworkIndexedDbSessionService;
  /** Deletes a database with all its data, for example at a logout. */
  deleteDatabase(name?: string, options?: DeleteDatabaseOptions): Promise<void>;
}

/**
 * The services that {@link adkSessionService} returns.
 *
 * @example
 * ```ts
 * import { BaseSessionService } from '@google/adk';
 * import { type AdkSessionServices, adkSessionService } from 'adk-session-wasm/adk/factory';
 *
 * const services: AdkSessionServices = adkSessionService(BaseSessionService);
 * const sessionService = await services.openSessionService({ storage: 'auto', name: 'my-shop' });
 * ```
 */
export interface AdkSessionServices {
  /** Takes the options of the package's own service. Only the default of `stale` differs: `'append'`. */
  readonly InMemorySessionService: new (
    options?: SessionServiceOptions,
  ) => FrameworkInMemorySessionService;
  /** Takes the options of the package's own service. Only the default of `stale` differs: `'append'`. */
  readonly IndexedDbSessionService: FrameworkIndexedDbSessionServiceClass;
  /**
   * Takes the same options as the package's own function, makes the same choice, and reports the same errors.
   * Only the default of `stale` differs: `'append'`.
   */
  readonly openSessionService: (
    options: OpenSessionServiceOptions,
  ) => Promise<FrameworkSessionService>;
  /** Turns any service of this package into a service of the framework. */
  readonly overService: OverService;
}

/**
 * Turns any service of this package, or your own implementation of its `BaseSessionService`, into a service
 * of the framework.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, openSessionService } from 'adk-session-wasm';
 * import { overService } from 'adk-session-wasm/adk';
 *
 * const atOnce = overService((options) => new InMemorySessionService(options));
 * const later = await overService((options) => openSessionService({ storage: 'auto', ...options }));
 * ```
 */
export interface OverService {
  /**
   * @param open makes the service with the given options. A service that appends without these options works
   *   with the framework, but it does not keep the order of parallel agents' writes.
   * @throws SessionError `invalid_argument` if `open` makes something else; any error that `open` throws
   */
  (open: (options: FrameworkOptions) => OurService): FrameworkSessionService;
  (open: (options: FrameworkOptions) => Promise<OurService>): Promise<FrameworkSessionService>;
}

/**
 * Returns the session services of this package as classes of your copy of `@google/adk`.
 *
 * A program may load `@google/adk` twice, once by `import` and once by `require`, and a bundler may add a
 * third copy. Each copy numbers its parallel agents' writes separately, and shows these numbers only to its
 * own `BaseSessionService`. So the services must extend the class of the copy whose `Runner` and agents you
 * use. Over another copy, an older write may replace a newer one.
 *
 * `adk-session-wasm/adk` has the services over the copy that `import` or `require` loads. Use this function
 * for any other copy. `adk-session-wasm/adk/factory` exports it without loading a copy.
 *
 * @param Base the class `BaseSessionService` of your copy
 * @throws SessionError `invalid_argument` if it is something else
 *
 * @example
 * ```ts
 * import { createRequire } from 'node:module';
 * import { adkSessionService } from 'adk-session-wasm/adk/factory';
 *
 * const require = createRequire(import.meta.url);
 * const { BaseSessionService, LlmAgent, Runner } = require('@google/adk') as typeof import('@google/adk');
 *
 * const { InMemorySessionService } = adkSessionService(BaseSessionService);
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({
 *   appName: 'shop',
 *   agent,
 *   sessionService: new InMemorySessionService(),
 * });
 * ```
 */
export function adkSessionService(Base: typeof BaseSessionService): AdkSessionServices {
  requireBase(Base);
  const Over = frameworkClass(Base);
  // The class is abstract only for the compiler: its missing methods are never called.
  const bare = new (Base as unknown as new () => BaseSessionService)();
  const append = bare.appendEvent.bind(bare);

  function frameworkOptions(): FrameworkOptions {
    return { stale: 'append', stateWriter: new FrameworkStateWriter(append) };
  }

  function withFramework<Options extends SessionServiceOptions>(options: Options): Options {
    requireOptions(options);
    const framework = frameworkOptions();
    const { stale = framework.stale } = ownMembers(options);
    return { ...options, ...framework, stale };
  }

  class InMemorySessionService extends Over implements FrameworkInMemorySessionService {
    readonly #memory: MemoryService;

    constructor(options: SessionServiceOptions = {}) {
      const memory = new MemoryService(withFramework(options));
      super(memory);
      this.#memory = memory;
    }

    createSessionSync(request: CreateSessionRequest): Session {
      acceptToolConfirmations(request);
      return this.#memory.createSessionSync(request);
    }

    getSessionSync(request: GetSessionRequest): Session | undefined {
      return this.#memory.getSessionSync(request);
    }

    listSessionsSync(request: ListSessionsRequest): ListSessionsResponse;
    listSessionsSync(request: ListSessionsPageRequest): FrameworkSessionsPage;
    listSessionsSync(request: ListSessionsPageRequest): FrameworkSessionsPage {
      return this.#memory.listSessionsSync(request);
    }

    deleteSessionSync(request: DeleteSessionRequest): void {
      this.#memory.deleteSessionSync(request);
    }
  }

  class IndexedDbSessionService extends Over {
    readonly #database: DatabaseService;

    constructor(options: IndexedDbSessionServiceOptions = {}) {
      const database = new DatabaseService(withFramework(options));
      super(database);
      this.#database = database;
    }

    open(request: Abortable = {}): Promise<void> {
      return this.#database.open(request);
    }

    static deleteDatabase(name?: string, options?: DeleteDatabaseOptions): Promise<void> {
      return DatabaseService.deleteDatabase(name, options);
    }
  }

  async function openSessionService(
    options: OpenSessionServiceOptions,
  ): Promise<FrameworkSessionService> {
    return new Over(await openService(withFramework(copyRequest(options))));
  }

  function overService(open: (options: FrameworkOptions) => OurService): FrameworkSessionService;
  function overService(
    open: (options: FrameworkOptions) => Promise<OurService>,
  ): Promise<FrameworkSessionService>;
  function overService(
    open: (options: FrameworkOptions) => OurService | Promise<OurService>,
  ): FrameworkSessionService | Promise<FrameworkSessionService> {
    if (typeof open !== 'function') {
      throw invalid(
        'open',
        `must be a function that makes the service; it is ${describeValue(open)}`,
      );
    }
    const service = open(frameworkOptions());
    return service instanceof Promise
      ? service.then((service) => new Over(service))
      : new Over(service);
  }

  return { InMemorySessionService, IndexedDbSessionService, openSessionService, overService };
}

function requireBase(base: unknown): void {
  const { prototype } = Object(base) as { prototype?: Partial<BaseSessionService> | null };
  if (typeof base === 'function' && typeof prototype?.appendEvent === 'function') return;
  const rule = "must be the class of that name, which '@google/adk' exports";
  throw invalid('BaseSessionService', `${rule}; it is ${describeValue(base)}`);
}
