import { callCore } from '../core.js';
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
  StateShape,
} from '../session.js';
import { requireNotAborted, requireRequest } from './call.js';
import { requireKnownOptions, SERVICE_OPTIONS } from './known_options.js';
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
    requireKnownOptions(options, SERVICE_OPTIONS);
    super({ storage: { kind: 'memory', durable: false } }, options);
  }

  /**
   * As `createSession`, at once.
   *
   * @throws SessionError as `createSession`; `not_loaded` in the slim entry before the wasm is there
   */
  createSessionSync(request: CreateSessionRequest<S>): Session<S> {
    this.#check(request);
    return this.create(request, false) as Session<S>;
  }

  /** As `getSession`, at once. */
  getSessionSync(request: GetSessionRequest): Session<S> | undefined {
    this.#check(request);
    return this.get(request) as Session<S> | undefined;
  }

  /** As `listSessions`, at once. */
  listSessionsSync(request: ListSessionsRequest): ListSessionsResponse<S>;
  listSessionsSync(request: ListSessionsPageRequest): SessionsPage<S>;
  listSessionsSync(request: ListSessionsPageRequest): SessionsPage<S> {
    this.#check(request);
    return this.list(request) as SessionsPage<S>;
  }

  /** As `deleteSession`, at once. */
  deleteSessionSync(request: DeleteSessionRequest): void {
    this.#check(request);
    void this.delete(request);
  }

  #check(request: Abortable): void {
    this.requireOpen();
    requireRequest(request);
    requireNotAborted(request.signal);
    // Throws while the wasm is on its way.
    callCore(() => undefined);
  }
}
