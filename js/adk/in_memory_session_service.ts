import {
  type AppendEventRequest,
  BaseSessionService,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
} from '@google/adk';
import { InMemorySessionService as MemoryService } from '../service/in_memory_session_service.js';
import type { SessionServiceOptions } from '../service/stored_session_service.js';
import type { Session as OurSession } from '../session.js';
import type { StorageInfo } from '../session_service.js';
import { FrameworkStateWriter } from './framework_state_writer.js';

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
export class InMemorySessionService extends BaseSessionService {
  readonly #service: MemoryService;

  constructor(options: SessionServiceOptions = {}) {
    super();
    const append = super.appendEvent.bind(this);
    this.#service = new MemoryService(
      { stale: 'append', ...options },
      new FrameworkStateWriter(append),
    );
  }

  /** Where the sessions are kept. */
  get storage(): StorageInfo {
    return this.#service.storage;
  }

  async createSession(request: CreateSessionRequest): Promise<Session> {
    return toFramework(await this.#service.createSession(request));
  }

  async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const session = await this.#service.getSession(request);
    return session && toFramework(session);
  }

  override async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    return toFramework(await this.#service.getOrCreateSession(request));
  }

  async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { sessions, ...position } = await this.#service.listSessions(request);
    return { sessions: sessions.map(toFramework), ...position };
  }

  deleteSession(request: DeleteSessionRequest): Promise<void> {
    return this.#service.deleteSession(request);
  }

  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    // The handle was given out by this service, so it is one of ours under another name.
    await this.#service.appendEvent({
      session: session,
      event: event,
    });
    return event;
  }

  /** Pending work settles; later calls reject with `closed`. */
  close(): Promise<void> {
    return this.#service.close();
  }
}

/** The same object: the types differ in what they call the fields of an event's parts. */
function toFramework(session: OurSession): Session {
  return session;
}
