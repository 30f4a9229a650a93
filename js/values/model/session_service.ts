/// <reference lib="esnext.disposable" preserve="true" />
import type { StateShape } from '../state/state_shape.js';
import type {
  ChangesSince,
  ListChangesRequest,
  EventsPage,
  EventsRequest,
  GetEventsRequest,
  ListEventsRequest,
  StoredEvents,
} from './event_page.js';
import type {
  DeleteSessionsOptions,
  DeleteSessionsRequest,
  ListSessionsRequest,
  ListSessionsTotalRequest,
  ListSessionsResponse,
  SessionsPage,
  SessionsRequest,
} from './session_list.js';
import type { AppendedEvent, Event, NewEvent } from './event/event.js';
import type { ListenOptions, Notices, StopWatching, WatchOptions, WatchRequest } from './notice.js';
import type {
  Abortable,
  AppendEventRequest,
  AppendEventsRequest,
  AppRequest,
  CompositeSessionKey,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  Session,
  SessionChanges,
  UpdateStateRequest,
  UserRequest,
} from './session.js';
import type { SessionInfo, SessionInfoRequest } from './session_info.js';
import type { CloseOptions, StorageInfo } from './storage_info.js';

/**
 * A session service, over any storage. All services of this package have all members. These fail over some storages:
 *
 * | member | fails with `unsupported` over |
 * | --- | --- |
 * | `updateState` with a function | Vertex AI and HTTP: nothing holds the state until the commit |
 * | `updateState` without `sessionId`, `deleteUserState`, `deleteAppState` | Vertex AI |
 * | `updateSession`, and `title` and `labels` of `createSession` | a storage without the verb `describe` |
 * | `deleteSessions` | a storage without the verb `deleteUnchanged` |
 * | appends, events, `getEvents`, `listChanges`, `sessionInfo`, states apart from sessions, and deletions of several sessions | `adk api_server` |
 */
export interface SessionService<S extends object = StateShape> {
  /** Where the data is, and whether it lasts. */
  readonly storage: StorageInfo;
  /** @throws SessionError `already_exists`, `invalid_argument`, `unserializable` */
  createSession(request: CreateSessionRequest<S>): Promise<Session<S>>;
  /** Returns `undefined` if the session does not exist. */
  getSession(request: GetSessionRequest): Promise<Session<S> | undefined>;
  /**
   * Creates a session or returns the existing one, atomically. Concurrent callers all get the same
   * session.
   */
  getOrCreateSession(request: CreateSessionRequest<S>): Promise<Session<S>>;
  /** Lists sessions without their events, with the total. */
  listSessions(
    request: ListSessionsTotalRequest<keyof S & string>,
  ): Promise<ListSessionsResponse<S>>;
  /** Lists sessions. With `withTotal: false` the result has no total. */
  listSessions(request: ListSessionsRequest<keyof S & string>): Promise<SessionsPage<S>>;
  /**
   * Goes through sessions, and reads them page by page. Each session that is there all the time comes
   * once, also if it is updated meanwhile. Those that are updated or created behind the walk come at the
   * end. The walk remembers the ids that it gave.
   *
   * @throws SessionError (at the first step) as `listSessions`
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * for (const sessionId of ['s1', 's2', 's3']) {
   *   await service.createSession({ appName: 'shop', userId: 'ada', sessionId });
   * }
   * for await (const { id } of service.sessions({ appName: 'shop' })) console.log(id); // s1 s2 s3
   * ```
   */
  sessions(request: SessionsRequest<keyof S & string>): AsyncGenerator<Session<S>, void, undefined>;
  /**
   * Reads a page of a session's events, of any age. Each page costs about the same, apart from
   * `eventCount`.
   *
   * @throws SessionError `not_found`; `invalid_argument` for a cursor of another session or a limit out of
   * range
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
   * const session = await service.createSession(key);
   * for (const id of ['e1', 'e2', 'e3']) await service.appendEvent({ session, event: { id, invocationId: 'i1' } });
   *
   * const last = await service.listEvents({ ...key, limit: 2 });
   * console.log(last.events.map(({ id }) => id), last.eventCount); // ['e2', 'e3'] 3
   * const older = await service.listEvents({ ...key, limit: 2, before: last.before });
   * console.log(older.events.map(({ id }) => id), older.before); // ['e1'] undefined
   * ```
   */
  listEvents(request: ListEventsRequest): Promise<EventsPage>;
  /**
   * Goes through a session's events in either direction, and reads them page by page. Events that are
   * appended meanwhile come too, if they lie ahead; none comes twice.
   *
   * @throws SessionError (at the first step) as `listEvents` does
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
   * const session = await service.createSession(key);
   * for (const id of ['e1', 'e2', 'e3']) await service.appendEvent({ session, event: { id, invocationId: 'i1' } });
   *
   * for await (const { id } of service.events({ ...key, order: 'desc' })) console.log(id); // e3 e2 e1
   * ```
   */
  events(request: EventsRequest): AsyncGenerator<Event, void, undefined>;
  /**
   * Puts older events before those of a handle, whose `events` stay the same array. The handle may have
   * been read with `config.numRecentEvents`. Appends through it go on as before.
   *
   * @param limit the most events, 1 to 1,000; default 50
   * @returns whether there are still older events
   * @throws SessionError `not_found` if the session was deleted; `invalid_argument` if the handle cannot be
   * changed, or does not begin with a stored event
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
   * const created = await service.createSession(key);
   * for (const id of ['e1', 'e2', 'e3']) {
   *   await service.appendEvent({ session: created, event: { id, invocationId: 'i1' } });
   * }
   *
   * const session = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
   * if (session) {
   *   console.log(await service.loadOlder(session, 1)); // true
   *   console.log(session.events.map(({ id }) => id)); // ['e2', 'e3']
   * }
   * ```
   */
  loadOlder(session: Session<S>, limit?: number, options?: Abortable): Promise<boolean>;
  /**
   * Reads events by their ids, with their revisions. An event that is not stored is left out.
   *
   * @throws SessionError `not_found`; `invalid_argument`; `corrupt_record` if one of the events cannot be read;
   *   `unsupported` over `adk api_server`, which has no revisions; through a cache also `connection_lost`, if the
   *   local copy cannot tell whether an event is stored
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
   * const session = await service.createSession(key);
   * await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i1' } });
   *
   * const { events, revision } = await service.getEvents({ ...key, eventIds: ['e1', 'e2'] });
   * console.log(events.map(({ event }) => event.id)); // ['e1']
   * console.log(events[0]?.revision === revision); // true
   * ```
   */
  getEvents(request: GetEventsRequest): Promise<StoredEvents>;
  /**
   * Returns what has changed in a session since a revision: the events that were appended or replaced, and the
   * session as it is now. It locks nothing, and costs as much as it returns.
   *
   * @throws SessionError `not_found`; `unsupported` over `adk api_server`, which has no revisions
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
   * const session = await service.createSession(key);
   * const since = service.revisionOf(session) ?? 0;
   * await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i1' } });
   *
   * const { events = [], revision } = await service.listChanges({ ...key, since });
   * console.log(events.map(({ event }) => event.id)); // ['e1']
   * console.log((await service.listChanges({ ...key, since: revision })).events); // []
   * ```
   */
  listChanges(request: ListChangesRequest): Promise<ChangesSince<S>>;
  /** Deletes a session. Resolves if it does not exist. App and user state stay. */
  deleteSession(request: DeleteSessionRequest): Promise<void>;
  /**
   * Deletes all sessions that fulfil the request, the oldest first, and returns how many that were. Each one is
   * deleted whole, in a transaction of its own, and only if it has not changed since it was found. App and user
   * state stay. Watchers get a notice of each deletion.
   *
   * @throws SessionError `invalid_argument`; `aborted` and the codes of the storage: what is deleted until then
   *   stays deleted; `unsupported` if a storage has no verb `deleteUnchanged`
   */
  deleteSessions(request: DeleteSessionsRequest, options?: DeleteSessionsOptions): Promise<number>;
  /**
   * Stores the event and its delta atomically. Resolves to the same event object.
   *
   * The call sets the id and the timestamp (milliseconds) that the event lacks, and then its actions. So a retry with
   * the same object stores it once. If an event with that id is stored, an equal one changes nothing, and a different
   * one replaces it in its place. A partial event is not stored.
   *
   * @throws {SessionError} `invalid_argument` and `unserializable` for an event or delta that cannot be stored;
   * `unsupported` for an event of `@google/adk` without `asAdkService`; `not_found` if the session was deleted;
   * `stale_session` if the handle is behind and the service has
   * `stale: 'reject'`, or if the session has another revision than `expectedRevision`; `schema_violation`; `aborted`;
   * `closed`; and the codes of the storage, such as `quota_exceeded` and `connection_lost`
   */
  appendEvent<E extends NewEvent>(request: AppendEventRequest<S, E>): Promise<AppendedEvent<E>>;
  /** Stores all events or none, in order. */
  appendEvents<E extends NewEvent>(request: AppendEventsRequest<S, E>): Promise<AppendedEvent<E>[]>;
  /**
   * Changes the title and the labels of a session. It makes no event, and the session keeps its time and its
   * place in lists.
   *
   * @throws SessionError `not_found`; `invalid_argument`; `unsupported` if the storage keeps no titles
   */
  updateSession(key: CompositeSessionKey & Abortable, changes: SessionChanges): Promise<void>;
  /**
   * Returns a session's title, labels and times, the number and size of its events, and the tokens that they used.
   *
   * The numbers are computed from all stored events, which the call reads page by page: it takes about as long as
   * `getSession`, and little memory. Over Vertex AI, and through a storage without `readPage`, it reads all events at
   * once. Events that are appended meanwhile may not be counted.
   *
   * @throws SessionError `not_found`; `corrupt_record` for an event that cannot be read
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService();
   * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
   * const session = await service.createSession({ ...key, state: { topic: 'tea' } });
   * const usageMetadata = { promptTokenCount: 12, totalTokenCount: 20 };
   * const event = { invocationId: 'i1', modelVersion: 'gemini-2.5-flash', usageMetadata };
   * await service.appendEvent({ session, event });
   *
   * const { eventCount, usage, initialState } = await service.sessionInfo(key);
   * console.log(eventCount, usage['gemini-2.5-flash']?.totalTokenCount, initialState); // 1 20 { topic: 'tea' }
   * ```
   */
  sessionInfo(request: SessionInfoRequest): Promise<SessionInfo<S>>;
  /**
   * Changes state: of a session by an event, without `sessionId` of the user or the app.
   *
   * If `stateDelta` is a function, it computes the changes from the stored state, and nobody changes that state
   * before the commit. So concurrent calls lose nothing: they count, add to a list, or take the next number. The
   * function gets the keys of the app, and of the user and the session that the request names. It must be
   * synchronous and must not call the service. A storage that retries its transaction calls it again; the last
   * result counts. If it returns `{}`, nothing is written.
   *
   * @throws SessionError (as a rejection) `not_found` if there is no such session, `invalid_argument` if the
   *   function returns no object, `unsupported` for a function if the storage has no transactions (Vertex AI).
   *   What the function throws, unchanged. Nothing is written then.
   *
   * @example
   * ```ts
   * import { InMemorySessionService } from 'adk-session-wasm';
   *
   * const service = new InMemorySessionService<{ 'app:total': number }>();
   * const count = () =>
   *   service.updateState({
   *     appName: 'shop',
   *     stateDelta: ({ 'app:total': total = 0 }) => ({ 'app:total': total + 1 }),
   *   });
   * await Promise.all([count(), count(), count()]);
   * console.log(await service.getAppState({ appName: 'shop' })); // { total: 3 }
   * ```
   */
  updateState(request: UpdateStateRequest<S>): Promise<void>;
  /** Returns the user's state. Its keys have no prefix. */
  getUserState(request: UserRequest): Promise<StateShape>;
  /** Returns the app's state. Its keys have no prefix. */
  getAppState(request: AppRequest): Promise<StateShape>;
  /** Deletes the user's sessions and state. */
  deleteUser(request: UserRequest): Promise<void>;
  /** Deletes the user's state. The sessions stay. */
  deleteUserState(request: UserRequest): Promise<void>;
  /** Deletes the app's state. Sessions and users stay. */
  deleteAppState(request: AppRequest): Promise<void>;
  /**
   * Calls `onNotice` with each notice of changes from now on, until the signal fires or the service is closed.
   *
   * @returns a function that ends the watch
   * @throws SessionError `invalid_argument`, `closed`
   */
  watch(request: WatchRequest, options: ListenOptions): StopWatching;
  /**
   * Reports changes that are committed from now on. This service may have made them, another service of this
   * realm on the same storage, or, with IndexedDB, another tab. Call it before you read, so that no change is
   * missed. The watch starts at the call, before the first `next()`. It ends by the signal, by leaving the
   * loop, by `return()`, or when the service is closed.
   *
   * An append is reported by one notice, whatever states it changed. Appends to one session at the same moment may
   * share one. A slow reader gets one notice for each session and each shared state, the newest. A tab that ends right
   * after a commit may fail to notify the others, although the data is stored.
   *
   * @throws SessionError `invalid_argument`, `closed`
   */
  watch(request: WatchRequest, options?: WatchOptions): Notices;
  /**
   * Returns the revision of the last change that a handle has; `undefined` for a handle that this service neither
   * gave out nor appended through. A notice with this revision or an earlier one is no news for the handle. With
   * `stale: 'append'` the handle may still lack earlier changes of others.
   *
   * @example
   * ```ts
   * import type { Notice, Session, SessionService } from 'adk-session-wasm';
   *
   * function isNews(service: SessionService, session: Session, notice: Notice): boolean {
   *   return notice.type !== 'appended' || notice.revision > (service.revisionOf(session) ?? 0);
   * }
   * ```
   */
  revisionOf(session: Pick<Session, 'state'>): number | undefined;
  /**
   * Asks the storage whether it answers, for the start of a program and for its health check. Opens the storage first
   * if no call has done so, and loads the wasm without blocking the page.
   *
   * A server is asked by a read of its own. Memory and IndexedDB are ready once they are open. A storage of
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
  ping(request?: Abortable): Promise<void>;
  /**
   * Waits for pending calls; later calls reject with `closed`. A second close resolves.
   *
   * @throws SessionError (as a rejection) `storage_failed` if the storage cannot be closed, or settles too late
   */
  close(options?: CloseOptions): Promise<void>;
  /** Closes the service at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The ADK's name of {@link SessionService}. */
export type BaseSessionService<S extends object = StateShape> = SessionService<S>;
