import { type Call, takeOptions } from '../core/call/call.js';
import { createMemoryStorage, requireWasm } from '../core/wasm/all.js';
import type { WriteIdentity } from '../values/model/diagnostic.js';
import type {
  Abortable,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ImportedSessionRequest,
  Session,
} from '../values/model/session.js';
import type {
  ListSessionsRequest,
  ListSessionsTotalRequest,
  ListSessionsResponse,
  SessionsPage,
} from '../values/model/session_list.js';
import type { StateShape } from '../values/state/state_shape.js';
import { WasmStore } from '../core/storage/wasm/wasm_store.js';
import { MemoryMutations } from '../core/storage/mutations.js';
import { parseTexts } from '../core/storage/stored_events.js';
import { ServiceCore, takeDeletion } from './service_core.js';
import type { ServiceParts, SessionServiceOptions } from './service_options.js';
import { StoredSessionService } from './stored_session_service.js';

/**
 * Keeps sessions in memory, in the wasm instance. The data is lost when the instance ends.
 *
 * Constructing the service loads nothing. The first call compiles the wasm at once, which blocks a page for
 * some milliseconds; `ping` compiles it beside the page.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const session = await service.createSession({ appName: 'shop', userId: 'ada' });
 * ```
 */
export class InMemorySessionService<S extends object = StateShape> extends StoredSessionService<S> {
  readonly #core: ServiceCore;

  /** @throws SessionError `invalid_argument` if an option is invalid */
  constructor(options: SessionServiceOptions<S> = {}) {
    const parts: ServiceParts = {
      storage: { kind: 'memory', durable: false },
      traits: { isSynchronous: true },
      openArtifacts: ({ openInMemory }) => openInMemory(),
      openStore: ({ clock }) =>
        new WasmStore(createMemoryStorage(), {
          holdsData: true,
          parse: (texts) => parseTexts(texts as readonly string[]),
          mutations: new MemoryMutations(clock),
        }),
    };
    const core = new ServiceCore(parts, takeOptions(options));
    super(core);
    this.#core = core;
  }

  /**
   * Like `createSession`, but synchronous.
   *
   * @throws SessionError as `createSession`; `not_loaded` in the slim entry before the wasm is
   *   loaded
   */
  createSessionSync(request: CreateSessionRequest<S>): Session<S>;
  /** @internal */
  createSessionSync(request: ImportedSessionRequest<S>): Session<S>;
  createSessionSync(request: ImportedSessionRequest<S>): Session<S> {
    return this.#runNow(request, (request, call) => this.#create(request, call));
  }

  /** Creates a session, as `createSession` of every service does. */
  override createSession(request: CreateSessionRequest<S>): Promise<Session<S>>;
  /** @internal */
  override createSession(request: ImportedSessionRequest<S>): Promise<Session<S>>;
  override createSession(request: ImportedSessionRequest<S> & WriteIdentity): Promise<Session<S>> {
    return this.#core.calls.run('createSession', request, (request, call) =>
      request.mutation === undefined
        ? this.#create(request, call)
        : this.#core.create(request, false, call),
    );
  }

  #create(request: ImportedSessionRequest<S>, call: Call): Session<S> | Promise<Session<S>> {
    const taken = this.#core.takeNew(request, false);
    // Only a call that may be repeated has a mutation. To copy each request without it would take a fifth of the time.
    const newSession = taken.mutation === undefined ? taken : { ...taken, mutation: undefined };
    return this.#core.callMemory(call, ({ sync }) => {
      // Without `ifAbsent` it is created, or the call fails.
      const created = sync.create(newSession, call)!;
      this.#core.publisher.publish(newSession, created);
      return this.#core.reader.open<S>(newSession, created);
    });
  }

  /** Reads a session, as `getSession` of every service does. */
  override getSession(request: GetSessionRequest): Promise<Session<S> | undefined> {
    return this.#core.calls.run('getSession', request, (request, call) => this.#get(request, call));
  }

  /** Like `getSession`, but synchronous. */
  getSessionSync(request: GetSessionRequest): Session<S> | undefined {
    return this.#runNow(request, (request, call) => this.#get(request, call));
  }

  #get(
    request: GetSessionRequest,
    call: Call,
  ): Session<S> | undefined | Promise<Session<S> | undefined> {
    return this.#core.callMemory(call, (store) =>
      this.#core.reader.getNow<S>(request, call, store),
    );
  }

  /** Like `listSessions`, but synchronous. */
  listSessionsSync(request: ListSessionsTotalRequest<keyof S & string>): ListSessionsResponse<S>;
  listSessionsSync(request: ListSessionsRequest<keyof S & string>): SessionsPage<S>;
  listSessionsSync(request: ListSessionsRequest<keyof S & string>): SessionsPage<S> {
    return this.#runNow(request, (request, call) =>
      this.#core.callMemory(call, (store) => this.#core.lists.listNow<S>(request, call, store)),
    );
  }

  /** Like `deleteSession`, but synchronous. */
  deleteSessionSync(request: DeleteSessionRequest): void {
    this.#runNow(request, (request, call) =>
      this.#core.callMemory(call, ({ sync }) => {
        const write = takeDeletion({ ...request, created: undefined, mutation: undefined });
        if (write === undefined) return;
        this.#core.publisher.publish(write, sync.delete(write, call));
        this.#core.artifacts?.eraseNow({ ...request });
      }),
    );
  }

  #runNow<Request extends Abortable, T>(
    request: Request,
    work: (request: Request, call: Call) => T | Promise<T>,
  ): T {
    const taken = this.#core.calls.begin(request);
    // Throws if the wasm is not loaded and cannot be loaded synchronously. Then nothing is waited for.
    requireWasm();
    return work(taken, { signal: taken.signal }) as T;
  }
}
