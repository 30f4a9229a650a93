import { invalidValue } from '../errors/invalid.js';
import type { ChangesSince, ListChangesRequest } from '../model/changes_since.js';
import type { DeleteSessionsOptions, DeleteSessionsRequest } from '../model/deletion.js';
import type { AppendedEvent, Event, NewEvent } from '../model/event/event.js';
import type {
  EventsPage,
  EventsRequest,
  GetEventsRequest,
  ListEventsRequest,
  StoredEvents,
} from '../model/event_page.js';
import { requireId, requireUser } from '../model/values/ids.js';
import type { SessionInfo, SessionInfoRequest } from '../model/session_info.js';
import type {
  Abortable,
  AppendEventRequest,
  AppendEventsRequest,
  AppRequest,
  CompositeSessionKey,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ImportedSessionRequest,
  Session,
  SessionChanges,
  UpdateStateRequest,
  UserRequest,
} from '../model/session.js';
import type {
  ListSessionsPageRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  SessionsPage,
  SessionsRequest,
} from '../model/session_list.js';
import type { StateShape } from '../state/state_shape.js';
import type { SessionService } from '../model/session_service.js';
import type { CloseOptions, Health, StorageInfo } from '../model/storage_info.js';
import { codeOf } from '../call/diagnostics.js';
import { makeDisposable } from '../call/disposable.js';
import { after } from '../call/call.js';
import { requireSession } from '../handle/handle.js';
import { walkEvents } from '../read/event_pages.js';
import { walkSessions } from '../read/session_lists.js';
import type {
  ListenOptions,
  Notices,
  StopWatching,
  WatchOptions,
  WatchRequest,
} from '../model/notice.js';
import { deleteSessions } from './delete_sessions.js';
import { callOf } from '../storage/backend.js';
import { CORE } from '../model/initial_state.js';
import type { ServiceCore } from './service_core.js';
import { closeTimeoutOf } from './service_options.js';
import { markRaw } from '../members/raw.js';

/**
 * A session service over any storage. It takes plain objects, calls its backend, and returns plain
 * objects. All storages behave the same, except that memory does its work before a call returns.
 */
export class StoredSessionService<S extends object = StateShape> implements SessionService<S> {
  /** Closes the service at the end of an `await using` block. */
  declare [Symbol.asyncDispose]: () => Promise<void>;

  static {
    markRaw(this.prototype);
    makeDisposable(this.prototype, function () {
      return this.close();
    });
  }

  readonly storage: StorageInfo;
  readonly #core: ServiceCore;

  /** @internal */
  constructor(core: ServiceCore) {
    this.storage = core.storage;
    this.#core = core;
  }

  /** @internal */
  get [CORE](): ServiceCore {
    return this.#core;
  }

  createSession(request: CreateSessionRequest<S>): Promise<Session<S>>;
  /** @internal */
  createSession(request: ImportedSessionRequest<S>): Promise<Session<S>>;
  createSession(request: ImportedSessionRequest<S>): Promise<Session<S>> {
    return this.#core.calls.run('createSession', request, (request) =>
      this.#core.create(request, false),
    );
  }

  getOrCreateSession(request: CreateSessionRequest<S>): Promise<Session<S>> {
    return this.#core.calls.run('getOrCreateSession', request, (request) =>
      this.#core.create(request, true),
    );
  }

  getSession(request: GetSessionRequest): Promise<Session<S> | undefined> {
    return this.#core.calls.run('getSession', request, (request) =>
      this.#core.reader.get<S>(request),
    );
  }

  listSessions(request: ListSessionsRequest<keyof S & string>): Promise<ListSessionsResponse<S>>;
  listSessions(request: ListSessionsPageRequest<keyof S & string>): Promise<SessionsPage<S>>;
  listSessions(request: ListSessionsPageRequest<keyof S & string>): Promise<SessionsPage<S>> {
    return this.#core.calls.run('listSessions', request, (request) =>
      this.#core.lists.list(request),
    );
  }

  sessions(
    request: SessionsRequest<keyof S & string>,
  ): AsyncGenerator<Session<S>, void, undefined> {
    const { calls, lists, clock } = this.#core;
    const list = (page: ListSessionsPageRequest) =>
      calls.run('listSessions', page, (page) => lists.list<S>(page, true));
    return calls.walk(request, (request) => walkSessions<S>(request, list, clock));
  }

  listEvents(request: ListEventsRequest): Promise<EventsPage> {
    return this.#core.calls.run('listEvents', request, (request) => this.#core.pages.list(request));
  }

  getEvents(request: GetEventsRequest): Promise<StoredEvents> {
    return this.#core.calls.run('getEvents', request, (request) => this.#core.pages.byIds(request));
  }

  listChanges(request: ListChangesRequest): Promise<ChangesSince<S>> {
    return this.#core.calls.run('listChanges', request, (request) =>
      this.#core.pages.changes<S>(request),
    );
  }

  events(request: EventsRequest): AsyncGenerator<Event, void, undefined> {
    const { calls, pages } = this.#core;
    const list = (page: ListEventsRequest, order: EventsRequest['order']) =>
      calls.run('listEvents', page, (page) => pages.list(page, order));
    return calls.walk(request, (request) => walkEvents(request, list));
  }

  loadOlder(session: Session<S>, limit?: number, options: Abortable = {}): Promise<boolean> {
    return this.#core.calls.run('loadOlder', { session, limit }, (request) =>
      this.#core.pages.addOlder(request, options),
    );
  }

  deleteSession(request: DeleteSessionRequest): Promise<void> {
    return this.#core.calls.run('deleteSession', request, (request) => this.#core.delete(request));
  }

  deleteSessions(
    request: DeleteSessionsRequest,
    options: DeleteSessionsOptions = {},
  ): Promise<number> {
    return this.#core.calls.run('deleteSessions', request, (request) =>
      deleteSessions(this.#core.deletable, request, options),
    );
  }

  appendEvent<E extends NewEvent>(request: AppendEventRequest<S, E>): Promise<AppendedEvent<E>> {
    return this.#core.calls.run('appendEvent', request, (request, facts) => {
      const { event } = request;
      return after(this.#core.appender.append(request, [event], facts), () => {
        const appended: unknown = event;
        return appended as AppendedEvent<E>;
      });
    });
  }

  appendEvents<E extends NewEvent>(
    request: AppendEventsRequest<S, E>,
  ): Promise<AppendedEvent<E>[]> {
    return this.#core.calls.run('appendEvents', request, (request, facts) => {
      const { events } = request;
      if (!Array.isArray(events)) throw invalidValue('events', 'must be an array', events);
      return after(this.#core.appender.append(request, [...events], facts), () => {
        const appended: unknown = events;
        return appended as AppendedEvent<E>[];
      });
    });
  }

  updateState(request: UpdateStateRequest<S>): Promise<void> {
    return this.#core.calls.run('updateState', request, (request) => this.#core.update(request));
  }

  updateSession(key: CompositeSessionKey & Abortable, changes: SessionChanges): Promise<void> {
    return this.#core.calls.run('updateSession', key, (key) => this.#core.describe(key, changes));
  }

  sessionInfo(request: SessionInfoRequest): Promise<SessionInfo<S>> {
    return this.#core.calls.run('sessionInfo', request, (request) =>
      this.#core.pages.info<S>(request),
    );
  }

  getUserState(request: UserRequest): Promise<StateShape> {
    return this.#core.calls.run('getUserState', request, (request) =>
      this.#core.reader.sharedState('user', request),
    );
  }

  getAppState(request: AppRequest): Promise<StateShape> {
    return this.#core.calls.run('getAppState', request, (request) =>
      this.#core.reader.sharedState('app', request),
    );
  }

  deleteUser(request: UserRequest): Promise<void> {
    return this.#core.calls.run('deleteUser', request, (request) => {
      const { appName, userId } = request;
      requireUser(request);
      const { feed } = this.#core;
      return this.#core.remove(
        { what: 'user', key: { appName, userId }, ...callOf(request) },
        (floor) => feed.publishUserDeleted({ appName, userId }, floor),
      );
    });
  }

  deleteUserState(request: UserRequest): Promise<void> {
    return this.#core.calls.run('deleteUserState', request, (request) => {
      const { appName, userId } = request;
      requireUser(request);
      const { feed } = this.#core;
      return this.#core.remove(
        { what: 'userState', key: { appName, userId }, ...callOf(request) },
        () => feed.publishStateDeleted('user', { appName, userId }),
      );
    });
  }

  deleteAppState(request: AppRequest): Promise<void> {
    return this.#core.calls.run('deleteAppState', request, (request) => {
      const appName = requireId('appName', request.appName);
      const { feed } = this.#core;
      return this.#core.remove({ what: 'appState', key: { appName }, ...callOf(request) }, () =>
        feed.publishStateDeleted('app', { appName }),
      );
    });
  }

  watch(request: WatchRequest, options: ListenOptions): StopWatching;
  watch(request: WatchRequest, options?: WatchOptions): Notices;
  watch(request: WatchRequest, options: ListenOptions | WatchOptions = {}): Notices | StopWatching {
    this.#core.calls.requireOpen();
    return this.#core.feed.watch(request, options);
  }

  revisionOf(session: Pick<Session, 'state'>): number | undefined {
    requireSession(session);
    return this.#core.handles.revisionOf(session.state);
  }

  ping(request: Abortable = {}): Promise<void> {
    return this.#core.calls.run('ping', request, (request) => this.#core.open(request));
  }

  async health(request: Abortable = {}): Promise<Health> {
    const pendingCalls = this.#core.calls.pending.length;
    const start = performance.now();
    const code = await this.ping(request).then(() => undefined, codeOf);
    return {
      isOk: code === undefined,
      storage: this.storage.kind,
      durationMs: performance.now() - start,
      pendingCalls,
      ...(code !== undefined && { code }),
    };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    return this.#core.close(closeTimeoutOf(options));
  }
}
