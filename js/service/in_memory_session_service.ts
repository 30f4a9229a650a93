import { callCore } from '../wasm/core.js';
import type {
  Abortable,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ListSessionsPageRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  Session,
  SessionsPage,
} from '../model/session.js';
import type { StateShape } from '../state/state_shape.js';
import { SERVICE_OPTIONS, takeOptions } from './known_options.js';
import type { SessionServiceOptions } from './service_options.js';
import { StoredSessionService } from './stored_session_service.js';

/**
 * Keeps sessions in memory, in wasm: what it keeps is gone with it.
 *
 * Constructing it loads nothing; the wasm is loaded by the first call.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const session = await service.createSession({ appName: 'shop', userId: 'ada' });
 * ```
 */
export class InMemorySessionService<
  S extends StateShape = StateShape,
> extends StoredSessionService<S> {
  /** @throws SessionError `invalid_argument` for options that mean nothing */
  constructor(options: SessionServiceOptions = {}) {
    super({ storage: { kind: 'memory', durable: false } }, takeOptions(options, SERVICE_OPTIONS));
  }

  /**
   * As `createSession`, at once.
   *
   * @throws SessionError as `createSession`; `not_loaded` in the slim entry before the wasm is there
   */
  createSessionSync(request: CreateSessionRequest<S>): Session<S> {
    return this.create(this.#take(request), false) as Session<S>;
  }

  /** As `getSession`, at once. */
  getSessionSync(request: GetSessionRequest): Session<S> | undefined {
    return this.get(this.#take(request)) as Session<S> | undefined;
  }

  /** As `listSessions`, at once. */
  listSessionsSync(request: ListSessionsRequest): ListSessionsResponse<S>;
  listSessionsSync(request: ListSessionsPageRequest): SessionsPage<S>;
  listSessionsSync(request: ListSessionsPageRequest): SessionsPage<S> {
    return this.list(this.#take(request)) as SessionsPage<S>;
  }

  /** As `deleteSession`, at once. */
  deleteSessionSync(request: DeleteSessionRequest): void {
    void this.delete(this.#take(request));
  }

  #take<Request extends Abortable>(request: Request): Request {
    const taken = this.take(request);
    // Throws while the wasm is on its way.
    callCore(() => undefined);
    return taken;
  }
}
