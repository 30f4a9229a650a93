import { invalidValue } from '../../values/errors/invalid.js';
import type { BaseSessionService, ListSessionsResponse, Session } from '@google/adk';
import { takeOptions, takeRequest } from '../../core/call/call.js';
import { InMemorySessionService as MemoryService } from '../in_memory_session_service.js';
import {
  type DeleteDatabaseOptions,
  IndexedDbSessionService as DatabaseService,
  type IndexedDbSessionServiceOptions,
} from '../indexed_db_session_service.js';
import {
  openSessionService as openService,
  type OpenSessionServiceOptions,
} from '../open_session_service.js';
import type { SessionServiceOptions } from '../service_options.js';
import type { StalePolicy } from '../../core/wasm/protocol.js';
import { type AppendRules, requireStalePolicy } from '../append/state_writer.js';
import type {
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
} from '../../values/model/session.js';
import type {
  ListSessionsRequest,
  ListSessionsTotalRequest,
} from '../../values/model/session_list.js';
import type { SessionService } from '../../values/model/session_service.js';
import {
  frameworkClass,
  type FrameworkSessionService,
  type FrameworkSessionsPage,
} from './framework_session_service.js';
import { runWith } from './run_with.js';
import { FrameworkStateWriter } from './framework_state_writer.js';
import { runPlanNow } from '../../core/storage/reads/read_plan.js';
import { type RunnerReadOptions, RunnerReads } from './runner_reads.js';
import { acceptToolConfirmations } from './tool_confirmations.js';

/** The options of {@link AsAdkService}. */
export interface AdkServiceOptions extends RunnerReadOptions {
  /**
   * The policy of an append through a stale handle; see `SessionServiceOptions`. Default `'append'`: a
   * running turn must not see events of others before it ends.
   */
  stale?: StalePolicy | undefined;
}

/** The in-memory service for the framework, with the same synchronous methods as the package's own. */
export interface FrameworkInMemorySessionService extends FrameworkSessionService {
  /** Synchronous version of `createSession`. */
  createSessionSync(request: CreateSessionRequest): Session;
  /** Synchronous version of `getSession`. */
  getSessionSync(request: GetSessionRequest): Session | undefined;
  /** Synchronous version of `listSessions`. */
  listSessionsSync(request: ListSessionsTotalRequest): ListSessionsResponse;
  /** Synchronous version of `listSessions` without the total. */
  listSessionsSync(request: ListSessionsRequest): FrameworkSessionsPage;
  /** Synchronous version of `deleteSession`. */
  deleteSessionSync(request: DeleteSessionRequest): void;
}

/** The class of this package's `IndexedDbSessionService` as a service of the framework. */
export interface FrameworkIndexedDbSessionServiceClass {
  /** @throws SessionError `invalid_argument` if an option is invalid */
  new (options?: IndexedDbSessionServiceOptions & RunnerReadOptions): FrameworkSessionService;
  /** Deletes a database with all its data, for example at a logout. */
  deleteDatabase(name?: string, options?: DeleteDatabaseOptions): Promise<void>;
}

/** The services that {@link adkSessionService} returns. */
export interface AdkSessionServices {
  /**
   * Takes the options of the package's own service, `view` and `numRecentEvents`. The default of `stale` is `'append'`.
   */
  readonly InMemorySessionService: {
    /** @throws SessionError `invalid_argument` if an option is invalid */
    new (options?: SessionServiceOptions & RunnerReadOptions): FrameworkInMemorySessionService;
    /** What all instances inherit. */
    readonly prototype: FrameworkInMemorySessionService;
  };
  /**
   * Takes the options of the package's own service, `view` and `numRecentEvents`. The default of `stale` is `'append'`.
   */
  readonly IndexedDbSessionService: FrameworkIndexedDbSessionServiceClass;
  /**
   * Takes the same options as the package's own function, `view` and `numRecentEvents`. It makes the same choice, and
   * reports the same errors. The default of `stale` is `'append'`.
   */
  readonly openSessionService: (
    options: OpenSessionServiceOptions & RunnerReadOptions,
  ) => Promise<FrameworkSessionService>;
  /** Makes any service one of the framework's. */
  readonly asAdkService: AsAdkService;
  /** Makes an agent for messages of a `Runner`, which runs over one of these services. */
  readonly runWith: typeof runWith;
}

/**
 * Makes any service of this package, or your own implementation of its `SessionService`, one of the
 * framework's.
 *
 * It returns a wrapper of the service. The given service stays as it is, and both share the sessions. Closing the
 * wrapper closes the service.
 *
 * Appends through the wrapper follow the order in which the framework's parallel agents wrote. The wrapper notes
 * this for each event, so it also holds if your own service passes the append on to one of this package. A
 * service that stores by itself keeps its own order.
 *
 * @throws SessionError `invalid_argument` if `service` is not a service, or an option is invalid
 */
export type AsAdkService = <S extends object>(
  service: SessionService<S>,
  options?: AdkServiceOptions,
) => FrameworkSessionService;

/**
 * Returns the session services of this package as classes of your copy of `@google/adk`.
 *
 * A program may load `@google/adk` twice, once by `import` and once by `require`, and a bundler may add a
 * third copy. Each copy numbers its parallel agents' writes separately, and shows these numbers only to its
 * own `BaseSessionService`. So the services must extend the class of the copy whose `Runner` and agents you
 * use. Over another copy, an older write may replace a newer one.
 *
 * `adk-session-wasm/adk` has the services over the copy that `import` loads. Use this function
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

  /** Returns how a view's appends change their handles. Each view has a writer of its own. */
  function rulesOf({ stale = 'append' }: AdkServiceOptions): AppendRules {
    return { stale: requireStalePolicy(stale), writer: new FrameworkStateWriter(append) };
  }

  class InMemorySessionService extends Over implements FrameworkInMemorySessionService {
    readonly #memory: MemoryService;
    readonly #reads: RunnerReads;

    constructor(options: SessionServiceOptions & RunnerReadOptions = {}) {
      const memory = new MemoryService(options);
      const reads = new RunnerReads(options);
      super(memory, rulesOf(options), reads);
      this.#memory = memory;
      this.#reads = reads;
    }

    createSessionSync(request: CreateSessionRequest): Session {
      acceptToolConfirmations(request);
      return this.#memory.createSessionSync(request);
    }

    getSessionSync(request: GetSessionRequest): Session | undefined {
      return runPlanNow(this.#reads.plan(request), (request) =>
        this.#memory.getSessionSync(request),
      );
    }

    listSessionsSync(request: ListSessionsTotalRequest): ListSessionsResponse;
    listSessionsSync(request: ListSessionsRequest): FrameworkSessionsPage;
    listSessionsSync(request: ListSessionsRequest): FrameworkSessionsPage {
      return this.#memory.listSessionsSync(request);
    }

    deleteSessionSync(request: DeleteSessionRequest): void {
      this.#memory.deleteSessionSync(request);
    }
  }

  class IndexedDbSessionService extends Over {
    constructor(options: IndexedDbSessionServiceOptions & RunnerReadOptions = {}) {
      super(new DatabaseService(options), rulesOf(options), new RunnerReads(options));
    }

    static deleteDatabase(name?: string, options?: DeleteDatabaseOptions): Promise<void> {
      return DatabaseService.deleteDatabase(name, options);
    }
  }

  async function openSessionService(
    options: OpenSessionServiceOptions & RunnerReadOptions,
  ): Promise<FrameworkSessionService> {
    const all = takeRequest(options);
    return new Over(await openService(all), rulesOf(all), new RunnerReads(all));
  }

  const asAdkService: AsAdkService = (service, options = {}) => {
    const taken = takeOptions(options);
    return new Over(service, rulesOf(taken), new RunnerReads(taken));
  };

  return {
    InMemorySessionService,
    IndexedDbSessionService,
    openSessionService,
    asAdkService,
    runWith,
  };
}

function requireBase(base: unknown): void {
  const { prototype } = Object(base) as { prototype?: Partial<BaseSessionService> | null };
  if (typeof base === 'function' && typeof prototype?.appendEvent === 'function') return;
  const rule = "must be the class of that name, which '@google/adk' exports";
  throw invalidValue('BaseSessionService', rule, base);
}
