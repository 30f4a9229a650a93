import { makeDisposable } from '../service/disposable.js';
import {
  BaseSessionService,
  type Event,
  type ListSessionsResponse,
  type Session,
} from '@google/adk';
import type { StateWriter } from '../service/state_writer.js';
import type {
  Abortable,
  AppRequest,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ListSessionsRequest,
  Session as OurSession,
  StateShape,
  UpdateStateRequest,
  UserRequest,
} from '../session.js';
import type { BaseSessionService as OurService, StorageInfo } from '../session_service.js';
import type {
  ListenOptions,
  Notices,
  Watchable,
  WatchOptions,
  WatchRequest,
} from '../watch/notice.js';
import { FrameworkStateWriter } from './framework_state_writer.js';
import { acceptToolConfirmations } from './tool_confirmations.js';

/** Asks for an event to be appended through a handle. */
export interface AppendEventRequest extends Abortable {
  session: Session;
  event: Event;
}

/** Asks for events to be appended through a handle, all of them or none. */
export interface AppendEventsRequest extends Abortable {
  session: Session;
  events: Event[];
}

/**
 * A service of this package as a `BaseSessionService` of the framework, which is what its types ask
 * for: the framework's class has private members, so that nothing but a subclass will do.
 */
export abstract class FrameworkSessionService extends BaseSessionService {
  declare [Symbol.asyncDispose]: () => Promise<void>;

  static {
    makeDisposable(this.prototype);
  }

  readonly #service: OurService & Watchable;

  /** @param open makes the service, which puts deltas on its handles with the given writer */
  protected constructor(open: (writer: StateWriter) => OurService & Watchable) {
    super();
    this.#service = open(new FrameworkStateWriter(super.appendEvent.bind(this)));
  }

  /** Where the sessions are kept. */
  get storage(): StorageInfo {
    return this.#service.storage;
  }

  /** @throws SessionError (as a rejection) `already_exists`, `invalid_argument`, `unserializable` */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    acceptToolConfirmations(request);
    return toFramework(await this.#service.createSession(request));
  }

  /** `undefined` when there is no such session. */
  async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const session = await this.#service.getSession(request);
    return session && toFramework(session);
  }

  /** Atomic, which the framework's own is not. */
  override async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    acceptToolConfirmations(request);
    return toFramework(await this.#service.getOrCreateSession(request));
  }

  async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { sessions, ...position } = await this.#service.listSessions(request);
    return { sessions: sessions.map(toFramework), ...position };
  }

  /** Resolves also when there is none. App and user state stay. */
  deleteSession(request: DeleteSessionRequest): Promise<void> {
    return this.#service.deleteSession(request);
  }

  /** Stores the event and its delta in one atomic step; resolves to the same event object. */
  override appendEvent(request: AppendEventRequest): Promise<Event> {
    acceptToolConfirmations(request);
    return this.#service.appendEvent(request);
  }

  /** All of them or none, in order. */
  appendEvents(request: AppendEventsRequest): Promise<Event[]> {
    acceptToolConfirmations(request);
    return this.#service.appendEvents(request);
  }

  /** Changes state between turns; with a `sessionId`, by an event of author `user`. */
  updateState(request: UpdateStateRequest): Promise<void> {
    return this.#service.updateState(request);
  }

  /** Keys without their prefix. */
  getUserState(request: UserRequest): Promise<StateShape> {
    return this.#service.getUserState(request);
  }

  /** Keys without their prefix. */
  getAppState(request: AppRequest): Promise<StateShape> {
    return this.#service.getAppState(request);
  }

  /** Deletes the user's sessions and state. */
  deleteUser(request: UserRequest): Promise<void> {
    return this.#service.deleteUser(request);
  }

  deleteUserState(request: UserRequest): Promise<void> {
    return this.#service.deleteUserState(request);
  }

  deleteAppState(request: AppRequest): Promise<void> {
    return this.#service.deleteAppState(request);
  }

  /** Calls `onNotice` with each change from now on; see the package's own services. */
  watch(request: WatchRequest, options: ListenOptions): () => void;
  /** Changes as they are committed, from now on. */
  watch(request: WatchRequest, options?: WatchOptions): Notices;
  watch(request: WatchRequest, options: ListenOptions | WatchOptions = {}): Notices | (() => void) {
    // Each of the two says which of the ways it is.
    return options.onNotice === undefined
      ? this.#service.watch(request, options)
      : this.#service.watch(request, options);
  }

  /** Pending work settles; later calls reject with `closed`. A second close resolves. */
  close(): Promise<void> {
    return this.#service.close();
  }
}

/** The same object: only the names of the types differ. */
function toFramework(session: OurSession): Session {
  return session;
}
