import { invalidValue } from '../values/errors/invalid.js';
import type {
  ChangesSince,
  ListChangesRequest,
  EventsPage,
  EventsRequest,
  GetEventsRequest,
  ListEventsRequest,
  StoredEvents,
} from '../values/model/event_page.js';
import type { WriteIdentity } from '../values/model/diagnostic.js';
import type {
  DeleteSessionsOptions,
  DeleteSessionsRequest,
  ListSessionsRequest,
  ListSessionsTotalRequest,
  ListSessionsResponse,
  SessionsPage,
  SessionsRequest,
} from '../values/model/session_list.js';
import type { AppendedEvent, Event, NewEvent } from '../values/model/event/event.js';
import { requireId } from '../values/model/values/ids.js';
import type { SessionInfo, SessionInfoRequest } from '../values/model/session_info.js';
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
} from '../values/model/session.js';
import type { StateShape } from '../values/state/state_shape.js';
import type { SessionService } from '../values/model/session_service.js';
import type { CloseOptions, StorageInfo } from '../values/model/storage_info.js';
import { makeDisposable } from '../core/call/lifetime.js';
import { requireSession } from '../core/handle/handle.js';
import { walkEvents } from './read/event_pages.js';
import { walkSessions } from './read/session_lists.js';
import { ownMembers } from '../values/json/copy.js';
import type {
  ListenOptions,
  Notices,
  StopWatching,
  WatchOptions,
  WatchRequest,
} from '../values/model/notice.js';
import { deleteSessions } from './delete_sessions.js';
import { CORE, requireArtifacts } from '../core/core_of.js';
import type { Calls } from '../core/call/calls.js';
import type { ServiceCore } from './service_core.js';
import { after } from '../core/storage/wasm/maybe_promise.js';
import { closeTimeoutOf } from './service_options.js';
import { markRaw } from '../values/members.js';
import type { ArtifactService } from '../values/model/artifact.js';

/**
 * A session service over any storage. It takes plain objects, calls its store, and returns plain
 * objects. All storages behave the same, except that memory writes before a call returns.
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
  readonly #call: Calls['run'];

  /** @internal */
  constructor(core: ServiceCore) {
    this.storage = core.storage;
    this.#core = core;
    this.#call = core.calls.run.bind(core.calls);
  }

  /** @internal */
  get [CORE](): ServiceCore {
    return this.#core;
  }

  /**
   * The files of the sessions and users; see the option `artifacts`. Over HTTP they are on the server.
   *
   * @throws SessionError `artifact_service_missing` without that option
   */
  get artifacts(): Required<ArtifactService> {
    return requireArtifacts(this);
  }

  createSession(request: CreateSessionRequest<S>): Promise<Session<S>>;
  /** @internal */
  createSession(request: ImportedSessionRequest<S>): Promise<Session<S>>;
  createSession(request: ImportedSessionRequest<S>): Promise<Session<S>> {
    return this.#call('createSession', request, (request, call) =>
      this.#core.create(request, false, call),
    );
  }

  getOrCreateSession(request: CreateSessionRequest<S>): Promise<Session<S>> {
    return this.#call('getOrCreateSession', request, (request, call) =>
      this.#core.create(request, true, call),
    );
  }

  getSession(request: GetSessionRequest): Promise<Session<S> | undefined> {
    return this.#call('getSession', request, (request, call) =>
      this.#core.reader.get<S>(request, call),
    );
  }

  listSessions(
    request: ListSessionsTotalRequest<keyof S & string>,
  ): Promise<ListSessionsResponse<S>>;
  listSessions(request: ListSessionsRequest<keyof S & string>): Promise<SessionsPage<S>>;
  listSessions(request: ListSessionsRequest<keyof S & string>): Promise<SessionsPage<S>> {
    return this.#call('listSessions', request, async ({ labels, stateKeys, ...rest }, call) => {
      const own = { ...rest, labels: ownMembers(labels), stateKeys: ownMembers(stateKeys) };
      return this.#core.lists.list(own, call);
    });
  }

  sessions(
    request: SessionsRequest<keyof S & string>,
  ): AsyncGenerator<Session<S>, void, undefined> {
    const core = this.#core;
    const list = (page: ListSessionsRequest) =>
      core.calls.run('listSessions', page, (page, call) => core.lists.list<S>(page, call, true));
    return core.calls.walk(request, (request) => walkSessions<S>(request, list, core.clock));
  }

  listEvents(request: ListEventsRequest): Promise<EventsPage> {
    return this.#call('listEvents', request, (request, call) =>
      this.#core.pages.list(request, call),
    );
  }

  getEvents(request: GetEventsRequest): Promise<StoredEvents> {
    return this.#call('getEvents', request, async ({ eventIds, ...key }, call) => {
      const own = { ...key, eventIds: ownMembers(eventIds) };
      return this.#core.pages.byIds(own, call);
    });
  }

  listChanges(request: ListChangesRequest): Promise<ChangesSince<S>> {
    return this.#call('listChanges', request, (request, call) =>
      this.#core.pages.changes<S>(request, call),
    );
  }

  events(request: EventsRequest): AsyncGenerator<Event, void, undefined> {
    const core = this.#core;
    const list = (page: ListEventsRequest, order: EventsRequest['order']) =>
      core.calls.run('listEvents', page, (page, call) => core.pages.list(page, call, order));
    return core.calls.walk(request, (request) => walkEvents(request, list));
  }

  loadOlder(session: Session<S>, limit?: number, options: Abortable = {}): Promise<boolean> {
    return this.#call('loadOlder', { session, limit }, (request, call) =>
      this.#core.pages.addOlder(request, options, call),
    );
  }

  deleteSession(request: DeleteSessionRequest): Promise<void> {
    return this.#call('deleteSession', request, (request, call) =>
      this.#core.delete(request, call),
    );
  }

  deleteSessions(
    request: DeleteSessionsRequest,
    options: DeleteSessionsOptions = {},
  ): Promise<number> {
    return this.#call('deleteSessions', request, (request, call) =>
      deleteSessions(this.#core.deletable, request, options, call),
    );
  }

  appendEvent<E extends NewEvent>(request: AppendEventRequest<S, E>): Promise<AppendedEvent<E>> {
    return this.#call('appendEvent', request, (request, call) => {
      const { event } = request;
      const appended: unknown = event;
      const stored = this.#core.appender.append(request, [event], call);
      return after(stored, () => appended as AppendedEvent<E>);
    });
  }

  appendEvents<E extends NewEvent>(
    request: AppendEventsRequest<S, E>,
  ): Promise<AppendedEvent<E>[]> {
    return this.#call('appendEvents', request, (request, call) => {
      const { events } = request;
      if (!Array.isArray(events)) throw invalidValue('events', 'must be an array', events);
      const appended: unknown = events;
      const stored = this.#core.appender.append(request, [...events], call);
      return after(stored, () => appended as AppendedEvent<E>[]);
    });
  }

  updateState(request: UpdateStateRequest<S>): Promise<void> {
    return this.#call('updateState', request, (request, call) => this.#core.update(request, call));
  }

  updateSession(key: CompositeSessionKey & Abortable, changes: SessionChanges): Promise<void> {
    return this.#call('updateSession', key, (key, call) => this.#core.describe(key, changes, call));
  }

  sessionInfo(request: SessionInfoRequest): Promise<SessionInfo<S>> {
    return this.#call('sessionInfo', request, (request, call) =>
      this.#core.pages.info<S>(request, call),
    );
  }

  getUserState(request: UserRequest): Promise<StateShape> {
    return this.#call('getUserState', request, (request, call) =>
      this.#core.reader.sharedState('user', request, call),
    );
  }

  getAppState(request: AppRequest): Promise<StateShape> {
    return this.#call('getAppState', request, (request, call) =>
      this.#core.reader.sharedState('app', request, call),
    );
  }

  deleteUser(request: UserRequest): Promise<void> {
    return this.#call('deleteUser', request, (request, call) =>
      this.#core.removeOf('user', request, call),
    );
  }

  deleteUserState(request: UserRequest): Promise<void> {
    return this.#call('deleteUserState', request, (request, call) =>
      this.#core.removeOf('userState', request, call),
    );
  }

  deleteAppState(request: AppRequest): Promise<void> {
    return this.#call(
      'deleteAppState',
      request,
      async (request: AppRequest & WriteIdentity, call) => {
        const key = { appName: requireId('appName', request.appName) };
        const { mutation } = request;
        return this.#core.remove({ kind: 'delete', what: 'appState', key, mutation }, call);
      },
    );
  }

  watch(request: WatchRequest, options: ListenOptions): StopWatching;
  watch(request: WatchRequest, options?: WatchOptions): Notices;
  watch(request: WatchRequest, options: ListenOptions | WatchOptions = {}): Notices | StopWatching {
    this.#core.calls.requireOpen();
    return this.#core.publisher.watch(request, options);
  }

  revisionOf(session: Pick<Session, 'state'>): number | undefined {
    requireSession(session);
    return this.#core.handles.revisionOf(session.state);
  }

  ping(request: Abortable = {}): Promise<void> {
    return this.#call('ping', request, (_, call) => this.#core.open(call));
  }

  async close(options: CloseOptions = {}): Promise<void> {
    return this.#core.close(closeTimeoutOf(options));
  }
}
