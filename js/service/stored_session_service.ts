import { createMemoryCore, loadWasm } from '../wasm/core.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { createEvent, type Event, newEventId } from '../model/event.js';
import { ownMembers } from '../members/own.js';
import { isId, optionalTime, requireId } from '../model/ids.js';
import { kindOf, messageOf } from '../json/rules.js';
import type {
  Abortable,
  AppendEventRequest,
  AppendEventsRequest,
  AppRequest,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ListSessionsPageRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  Session,
  SessionsPage,
  UpdateStateRequest,
  UserRequest,
} from '../model/session.js';
import type { StateShape } from '../state/state_shape.js';
import type {
  BaseSessionService,
  CloseOptions,
  Health,
  StorageInfo,
} from '../model/session_service.js';
import type { CreatedSession, Floor, Scopes, SessionStore } from '../storage/session_store.js';
import { CoreStore } from '../storage/core_store.js';
import { snapshotDelta, snapshotState } from '../model/snapshot.js';
import { type StateSchema, validateDelta } from '../state/state_schema.js';
import { Appender } from '../append/appender.js';
import { Calls } from '../call/calls.js';
import { Deadline } from '../call/deadline.js';
import { codeOf, Diagnostics } from '../call/diagnostics.js';
import { makeDisposable } from '../call/disposable.js';
import { STALE_POLICIES } from '../wasm/protocol.js';
import { after, type MaybePromise, requireNotAborted } from '../call/call.js';
import { invalid } from '../errors/invalid.js';
import { Handles } from '../handle/handle.js';
import {
  closeTimeoutOf,
  policyOf,
  type ServiceParts,
  type SessionServiceOptions,
} from './service_options.js';
import { SessionReader } from '../read/session_reader.js';
import { checkedClock, checkedIds } from './sources.js';
import { isThenable, withoutThen } from '../call/thenable.js';
import { writerOf } from '../append/state_writer.js';
import type {
  ListenOptions,
  Notices,
  Watchable,
  WatchOptions,
  WatchRequest,
} from '../watch/notice.js';
import { ServiceFeed } from '../watch/service_feed.js';

/** The most rounds in which `getOrCreateSession` finds the key taken but reads no session. */
const MAX_ROUNDS = 100;

/**
 * A session service over any storage. It takes plain objects, calls its store, and returns plain
 * objects. All storages behave the same, except that memory does its work before a call returns.
 *
 * @example
 * ```ts
 * import { openSessionService, type StoredSessionService } from 'adk-session-wasm';
 *
 * const service: StoredSessionService = await openSessionService({ storage: 'memory' });
 * ```
 */
export class StoredSessionService<S extends StateShape = StateShape>
  implements BaseSessionService<S>, Watchable
{
  declare [Symbol.asyncDispose]: () => Promise<void>;

  static {
    makeDisposable(this.prototype);
  }

  readonly storage: StorageInfo;
  readonly #parts: ServiceParts;
  readonly #schema: StateSchema | undefined;
  readonly #clock: () => number;
  readonly #newId: () => string;
  readonly #feed: ServiceFeed;
  readonly #appender: Appender;
  readonly #reader: SessionReader;
  readonly #calls: Calls;
  #store: SessionStore | undefined;
  #closing: Promise<void> | undefined;

  constructor(given: ServiceParts, options: SessionServiceOptions = {}) {
    const parts = ownMembers(given);
    this.storage = parts.storage;
    this.#parts = parts;
    const diagnostics = Diagnostics.of(options, parts.storage);
    this.#calls = new Calls(diagnostics);
    this.#feed = new ServiceFeed(parts.feed);
    const { stale = 'merge', stateSchema, clock = Date.now, newId = newEventId } = options;
    this.#schema = stateSchema;
    this.#clock = checkedClock(clock);
    this.#newId = checkedIds(newId);
    const handles = new Handles();
    this.#reader = new SessionReader({
      call: (signal, call) => this.#call(signal, call),
      handles,
      parseEvents: parts.parseEvents,
      history: options.history,
    });
    this.#appender = new Appender({
      handles,
      writer: writerOf(options.stateWriter),
      policy: policyOf(stale),
      schema: stateSchema,
      clock: this.#clock,
      newId: this.#newId,
      store: () => this.#openStore(),
      isInMemory: parts.openStore === undefined,
      feed: this.#feed,
      reader: this.#reader,
      explain: parts.explain ?? ((error) => error),
      diagnostics,
    });
  }

  createSession(request: CreateSessionRequest<S>): Promise<Session<S>> {
    return this.#calls.run('createSession', request, (request) => this.create(request, false));
  }

  getOrCreateSession(request: CreateSessionRequest<S>): Promise<Session<S>> {
    return this.#calls.run('getOrCreateSession', request, (request) => this.create(request, true));
  }

  getSession(request: GetSessionRequest): Promise<Session<S> | undefined> {
    return this.#calls.run('getSession', request, (request) => this.get(request));
  }

  listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse<S>>;
  listSessions(request: ListSessionsPageRequest): Promise<SessionsPage<S>>;
  listSessions(request: ListSessionsPageRequest): Promise<SessionsPage<S>> {
    return this.#calls.run('listSessions', request, (request) => this.list(request));
  }

  deleteSession(request: DeleteSessionRequest): Promise<void> {
    return this.#calls.run('deleteSession', request, (request) => this.delete(request));
  }

  appendEvent(request: AppendEventRequest<S>): Promise<Event> {
    return this.#calls.run('appendEvent', request, ({ session, event, signal }, facts) =>
      after(this.#appender.append(session, [event], signal, facts), ([stored]) =>
        isThenable(event) ? withoutThen(event, stored?.snapshot.text) : event,
      ),
    );
  }

  appendEvents(request: AppendEventsRequest<S>): Promise<Event[]> {
    return this.#calls.run('appendEvents', request, (request, facts) => {
      const { session, events, signal } = request;
      if (!Array.isArray(events))
        throw invalid('events', `must be an array; it is ${kindOf(events)}`);
      return after(this.#appender.append(session, [...events], signal, facts), () =>
        isThenable(events) ? [...events] : events,
      );
    });
  }

  updateState(request: UpdateStateRequest): Promise<void> {
    return this.#calls.run('updateState', request, (request) => this.#update(request));
  }

  getUserState(request: UserRequest): Promise<StateShape> {
    return this.#calls.run('getUserState', request, (request) => {
      requireId('userId', request.userId);
      return this.#reader.scopeState(request, request.userId);
    });
  }

  getAppState(request: AppRequest): Promise<StateShape> {
    return this.#calls.run('getAppState', request, (request) =>
      this.#reader.scopeState(request, undefined),
    );
  }

  deleteUser(request: UserRequest): Promise<void> {
    return this.#calls.run('deleteUser', request, (request) => {
      const { appName, userId } = request;
      requireId('appName', appName);
      requireId('userId', userId);
      const done = this.#remove(request, appName, userId, undefined, true);
      return after(done, this.#feed.userDeletionPublisher(appName, userId));
    });
  }

  deleteUserState(request: UserRequest): Promise<void> {
    return this.#calls.run('deleteUserState', request, (request) => {
      const { appName, userId } = request;
      requireId('appName', appName);
      requireId('userId', userId);
      const done = this.#remove(request, appName, userId);
      return after(done, this.#feed.stateDeletionPublisher(appName, userId));
    });
  }

  deleteAppState(request: AppRequest): Promise<void> {
    return this.#calls.run('deleteAppState', request, (request) => {
      const appName = requireId('appName', request.appName);
      const done = this.#remove(request, appName);
      return after(done, this.#feed.stateDeletionPublisher(appName, undefined));
    });
  }

  watch(request: WatchRequest, options: ListenOptions): () => void;
  watch(request: WatchRequest, options?: WatchOptions): Notices;
  watch(request: WatchRequest, options: ListenOptions | WatchOptions = {}): Notices | (() => void) {
    this.#calls.requireOpen();
    return this.#feed.watch(request, options);
  }

  /**
   * Asks the storage whether it answers. Opens it first if no call has done so.
   *
   * A server is asked by a read of its own. Memory and IndexedDB are ready once they are open. An adapter of
   * your own is asked by its verb `read`, for the state of an app that does not exist.
   *
   * @throws SessionError (as a rejection) the reason why the storage cannot be used: `storage_unavailable`,
   *   `storage_newer`, `storage_blocked`, `connection_lost`, `remote`, `wasm_unavailable`; `aborted`; `closed`
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * await new InMemorySessionService().ping({ signal: AbortSignal.timeout(1000) });
   * ```
   */
  ping(request: Abortable = {}): Promise<void> {
    return this.#calls.run('ping', request, ({ signal }) =>
      this.#call<void>(signal, (store) => store.open(signal)),
    );
  }

  /**
   * Pings the storage and reports the outcome. Never rejects.
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * const { isOk, code } = await service.health({ signal: AbortSignal.timeout(1000) });
   * console.log(isOk, code); // true undefined
   * ```
   */
  async health(request: Abortable = {}): Promise<Health> {
    const pendingCalls = this.#calls.pendingCount;
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
    const timeoutMs = closeTimeoutOf(options);
    // Only the first call reports a failure. The service is closed in any case.
    if (this.#closing !== undefined) return this.#closing.catch(() => undefined);
    this.#closing = this.#close(timeoutMs);
    return this.#closing;
  }

  async #close(timeoutMs: number | undefined): Promise<void> {
    const deadline = new Deadline(timeoutMs);
    const settled = this.#calls.close();
    this.#parts.closing?.(timeoutMs);
    await deadline.until(settled);
    try {
      await deadline.until(this.#parts.closeStorage?.());
    } catch (cause) {
      if (isSessionError(cause)) throw cause;
      const reason = messageOf(cause);
      throw new SessionError('storage_failed', `The storage's close failed: ${reason}`, { cause });
    } finally {
      deadline.clear();
      this.#store?.free();
      this.#store = undefined;
      this.#feed.close();
    }
  }

  /** @internal */
  protected create(request: CreateSessionRequest<S>, ifAbsent: boolean): MaybePromise<Session<S>> {
    const { appName, userId, sessionId, state, lastUpdateTime } = request;
    requireId('appName', appName);
    requireId('userId', userId);
    const id = isBlank(sessionId) ? this.#newId() : requireId('sessionId', sessionId);
    const { text, values } = snapshotState(state ?? undefined);
    if (this.#schema !== undefined) validateDelta(this.#schema, values);
    const now = optionalTime('lastUpdateTime', lastUpdateTime) ?? this.#clock();
    const { signal } = request;
    const key = { appName, userId, sessionId: id };
    const create = (): MaybePromise<Session<S> | undefined> => {
      requireNotAborted(signal);
      const created = this.#call<CreatedSession | undefined>(signal, (store) =>
        store.create(key, text, now, ifAbsent, signal),
      );
      return after(created, (created) => {
        if (created === undefined) return undefined;
        this.#feed.publishCreated(appName, userId, id, created);
        return this.#reader.open<S>(appName, userId, id, created);
      });
    };
    // Another call may create the session after the read. The next round reads it, unless it was
    // deleted again.
    const getOrCreate = (rounds: number): MaybePromise<Session<S>> => {
      if (rounds === 0) throw neverRead(id);
      const read = ifAbsent ? this.get({ ...key, signal }) : undefined;
      return after(
        read,
        (found) => found ?? after(create(), (created) => created ?? getOrCreate(rounds - 1)),
      );
    };
    return getOrCreate(MAX_ROUNDS);
  }

  /** @internal */
  protected get(request: GetSessionRequest): MaybePromise<Session<S> | undefined> {
    return this.#reader.get(request);
  }

  /** @internal */
  protected list(request: ListSessionsPageRequest): MaybePromise<SessionsPage<S>> {
    return this.#reader.list(request);
  }

  /** @internal */
  protected delete(request: DeleteSessionRequest): MaybePromise<void> {
    const { appName, userId, sessionId } = request;
    requireId('appName', appName);
    requireId('userId', userId);
    if (!isId(sessionId)) return undefined;
    const done = this.#remove(request, appName, userId, sessionId);
    return after(done, this.#feed.deletionPublisher(appName, userId, sessionId));
  }

  /** @internal */
  protected take<Request extends Abortable>(request: Request): Request {
    return this.#calls.begin(request);
  }

  /**
   * Deletes a session, or without `sessionId` a user's or an app's state. `withSessions` also
   * deletes the user's sessions.
   */
  #remove(
    { signal }: Abortable,
    appName: string,
    userId?: string,
    sessionId?: string,
    withSessions = false,
  ): MaybePromise<Floor> {
    return this.#call(signal, (store) =>
      store.delete(appName, userId, sessionId, withSessions, signal),
    );
  }

  #update(request: UpdateStateRequest): MaybePromise<void> {
    const { appName, userId, sessionId, stateDelta } = request;
    requireId('appName', appName);
    if (userId !== undefined) requireId('userId', userId);
    if (sessionId === undefined) {
      const { text, delta } = snapshotDelta(stateDelta);
      if (this.#schema !== undefined) validateDelta(this.#schema, delta);
      const done = this.#call<Scopes>(request.signal, (store) =>
        store.update(appName, userId, text, request.signal),
      );
      return after(done, this.#feed.stateChangePublisher(appName, userId));
    }
    requireId('sessionId', sessionId);
    if (userId === undefined) throw invalid('userId', 'must be given with a sessionId');
    const event = createEvent({
      id: this.#newId(),
      invocationId: `p-${this.#newId()}`,
      author: 'user',
      timestamp: Math.floor(this.#clock()),
    });
    // Set as given: the snapshot refuses an invalid delta.
    event.actions.stateDelta = stateDelta;
    const { append } = STALE_POLICIES;
    const key = { appName, userId, sessionId };
    return this.#appender.appendUnread(key, append, event, request.signal);
  }

  #openStore(): SessionStore {
    this.#store ??= this.#parts.openStore?.() ?? new CoreStore(createMemoryCore(), true);
    return this.#store;
  }

  /** Calls the store once the wasm is loaded. */
  #call<T>(
    signal: AbortSignal | undefined,
    call: (store: SessionStore) => MaybePromise<T>,
  ): MaybePromise<T> {
    // Before anything is awaited, so that appends called earlier are first in line.
    this.#appender.flush();
    const wait = loadWasm(this.#parts.openStore === undefined);
    if (wait === undefined) return call(this.#openStore());
    return wait.then(() => {
      requireNotAborted(signal);
      return this.#call<T>(signal, call);
    });
  }
}

/** For example, the storage reads from a replica that lags. */
function neverRead(sessionId: string): SessionError {
  const message = `The storage failed: session ${JSON.stringify(sessionId)} is there to create and not to read, ${MAX_ROUNDS} times in a row; reads must see what was written.`;
  return new SessionError('storage_failed', message);
}

function isBlank(id: unknown): boolean {
  return id === undefined || id === null || (typeof id === 'string' && id.trim() === '');
}
