import type { BaseSessionService, ListSessionsResponse, Session } from '@google/adk';
import { ownMembers } from '../members/own.js';
import { invalid, requireOptions, takeRequest, shown } from '../call/call.js';
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
 * What a service of ours needs under the framework: spread it into the options of yours.
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
  /** Asks the framework for the order of its parallel agents' writes. For one service only. */
  readonly stateWriter: StateWriter;
  /** A turn that is running must not see foreign events in its middle. */
  readonly stale: 'append';
}

/**
 * The service in memory for the framework, with the synchronous twins that the package's own has.
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
  /** As `createSession`, at once. */
  createSessionSync(request: CreateSessionRequest): Session;
  /** As `getSession`, at once. */
  getSessionSync(request: GetSessionRequest): Session | undefined;
  /** As `listSessions`, at once. */
  listSessionsSync(request: ListSessionsRequest): ListSessionsResponse;
  /** As `listSessions` without the total, at once. */
  listSessionsSync(request: ListSessionsPageRequest): FrameworkSessionsPage;
  /** As `deleteSession`, at once. */
  deleteSessionSync(request: DeleteSessionRequest): void;
}

/**
 * An `IndexedDbSessionService` of this package, as one of the framework's.
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
  /** Opens the database now, to learn whether it can be; else the first call does. */
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
  /** @throws SessionError `invalid_argument` for options that mean nothing */
  new (options?: IndexedDbSessionServiceOptions): FrameworkIndexedDbSessionService;
  /** Deletes a database with all that is in it, as for a logout. */
  deleteDatabase(name?: string, options?: DeleteDatabaseOptions): Promise<void>;
}

/**
 * What {@link adkSessionService} gives.
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
  /** Takes the options of the package's own service; only `stale` has another default, `'append'`. */
  readonly InMemorySessionService: new (
    options?: SessionServiceOptions,
  ) => FrameworkInMemorySessionService;
  /** Takes the options of the package's own service; only `stale` has another default, `'append'`. */
  readonly IndexedDbSessionService: FrameworkIndexedDbSessionServiceClass;
  /** The same options, choice and failures as the package's own; only `stale` is `'append'`. */
  readonly openSessionService: (
    options: OpenSessionServiceOptions,
  ) => Promise<FrameworkSessionService>;
  /** Makes any service of this package one of the framework's. */
  readonly overService: OverService;
}

/**
 * Makes any service of this package one of the framework's: whatever fulfils its `BaseSessionService`.
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
   * @param open makes the service with the given options. A service of your own that appends without
   *   them is a session service of the framework like any other, but it does not keep the order of
   *   parallel agents' writes.
   * @throws SessionError `invalid_argument` if it makes something else; what it throws
   */
  (open: (options: FrameworkOptions) => OurService): FrameworkSessionService;
  (open: (options: FrameworkOptions) => Promise<OurService>): Promise<FrameworkSessionService>;
}

/**
 * The session services of this package as classes of your copy of `@google/adk`.
 *
 * That package is there twice, once for `import` and once for `require`, and bundlers may add a third.
 * Each copy numbers the writes of its parallel agents for itself and shows them to its own
 * `BaseSessionService` alone. So the services must extend the class of that copy whose `Runner` and
 * agents you use: over another one, an older write may win over a newer one.
 *
 * `adk-session-wasm/adk` has the services over the copy that it is imported, or required, beside. This
 * function is for every other copy; from `adk-session-wasm/adk/factory` it comes without any.
 *
 * @param Base the class `BaseSessionService`, as your copy exports it
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
  // Abstract for the compiler only: what is missing in it is never called.
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
    return new Over(await openService(withFramework(takeRequest(options))));
  }

  function overService(open: (options: FrameworkOptions) => OurService): FrameworkSessionService;
  function overService(
    open: (options: FrameworkOptions) => Promise<OurService>,
  ): Promise<FrameworkSessionService>;
  function overService(
    open: (options: FrameworkOptions) => OurService | Promise<OurService>,
  ): FrameworkSessionService | Promise<FrameworkSessionService> {
    if (typeof open !== 'function') {
      throw invalid('open', `must be a function that makes the service; it is ${shown(open)}`);
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
  throw invalid('BaseSessionService', `${rule}; it is ${shown(base)}`);
}
