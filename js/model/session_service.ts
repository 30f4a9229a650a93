/// <reference lib="esnext.disposable" preserve="true" />
import type { SessionErrorCode } from '../errors/errors.js';
import type { DeleteSessionsOptions, DeleteSessionsRequest } from './deletion.js';
import type { AppendedEvent, NewEvent } from './event/event.js';
import type {
  AppendEventRequest,
  AppendEventsRequest,
  AppRequest,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  Session,
  SessionChanges,
  UpdateSessionRequest,
  UpdateStateRequest,
  UserRequest,
} from './session.js';
import type { SessionInfo, SessionInfoRequest } from './session_info.js';
import type {
  ListSessionsPageRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  SessionsPage,
  SessionsRequest,
} from './session_list.js';
import type { StateShape } from '../state/state_shape.js';

/**
 * The loss of a database: the browser has deleted it with all its sessions.
 *
 * @example
 * ```ts
 * import type { DataLoss } from 'adk-session-wasm';
 *
 * function tell({ when, message }: DataLoss): string {
 *   return `${new Date(when).toLocaleString()}: ${message}`;
 * }
 * ```
 */
export interface DataLoss {
  /** When the loss was noticed, in milliseconds since 1970. */
  when: number;
  /** A sentence that names the database and the reason of its loss, if that is known. */
  message: string;
}

/**
 * Describes where a service keeps its data.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const { kind, durable } = new InMemorySessionService().storage; // 'memory', false
 * ```
 */
export interface StorageInfo {
  /**
   * `'memory'`, `'indexeddb'`, the adapter's own `kind`, or `'custom'` for an adapter without one.
   */
  kind: string;
  /** Whether the data outlives the process or page. */
  durable: boolean;
  /** Why `'auto'` uses memory. */
  reason?: string | undefined;
  /** Over IndexedDB: the loss that this page noticed when it opened the database. */
  lost?: DataLoss | undefined;
}

/**
 * Whether a service can be used now, for the health check of a server.
 *
 * @example
 * ```ts
 * import type { Health } from 'adk-session-wasm';
 *
 * function status({ isOk }: Health): number {
 *   return isOk ? 200 : 503;
 * }
 * ```
 */
export interface Health {
  /** Whether the storage answered. */
  readonly isOk: boolean;
  /** The `kind` of the storage. */
  readonly storage: string;
  /** Milliseconds that the storage took to answer or to fail. */
  readonly durationMs: number;
  /** The number of calls of the service that had not settled before. */
  readonly pendingCalls: number;
  /** The code of the error, if the storage did not answer. */
  readonly code?: SessionErrorCode;
}

/**
 * The options of `close`.
 *
 * @example
 * ```ts
 * import { type CloseOptions, InMemorySessionService } from 'adk-session-wasm';
 *
 * const soon: CloseOptions = { timeoutMs: 5000 };
 * await new InMemorySessionService().close(soon);
 * ```
 */
export interface CloseOptions {
  /**
   * Milliseconds after which the close no longer waits for pending calls. The storage is then closed under these
   * calls, and they fail, mostly with `connection_lost` or `closed`.
   *
   * Default: databases, Vertex AI and other servers end their calls by limits of their own. Over other storages,
   * such as an adapter of your own, the close waits 30 seconds. Then it closes the storage and rejects with
   * `storage_failed`, which names the pending calls.
   */
  timeoutMs?: number | undefined;
}

/**
 * The interface of every session service, over any storage.
 *
 * @example
 * ```ts
 * import type { BaseSessionService } from 'adk-session-wasm';
 *
 * async function turns(service: BaseSessionService, sessionId: string): Promise<number> {
 *   const session = await service.getSession({ appName: 'shop', userId: 'ada', sessionId });
 *   return session?.events.length ?? 0;
 * }
 * ```
 */
export interface BaseSessionService<S extends object = StateShape> {
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
  listSessions(request: ListSessionsRequest<keyof S & string>): Promise<ListSessionsResponse<S>>;
  /** Lists sessions. With `withTotal: false` the result has no total. */
  listSessions(request: ListSessionsPageRequest<keyof S & string>): Promise<SessionsPage<S>>;
  /** Goes through sessions, page by page. Each comes once, also if it is updated meanwhile. */
  sessions(request: SessionsRequest<keyof S & string>): AsyncGenerator<Session<S>, void, undefined>;
  /** Deletes a session. Resolves if it does not exist. App and user state stay. */
  deleteSession(request: DeleteSessionRequest): Promise<void>;
  /**
   * Deletes all sessions that fulfil the request, the oldest first, and returns how many that were. Each one is
   * deleted whole, in a transaction of its own, and only if it has not changed since it was found. App and user
   * state stay. Watchers get a notice of each deletion.
   *
   * @throws SessionError `invalid_argument`; `aborted` and the codes of the storage: what is deleted until then
   *   stays deleted; `unsupported` if an adapter has no verb `deleteUnchanged`
   */
  deleteSessions(request: DeleteSessionsRequest, options?: DeleteSessionsOptions): Promise<number>;
  /**
   * Stores the event and its delta atomically. Resolves to the same event object.
   *
   * The call sets the id and the timestamp (milliseconds) that the event lacks, and then its actions. So a retry with the
   * same object stores it once. If an event with that id is stored, an equal one changes nothing, and a different one replaces it in its place.
   * A partial event is not stored.
   *
   * @throws {SessionError} `invalid_argument` and `unserializable` for an event or delta that cannot be stored;
   * `unsupported` for an event of `@google/adk` without `asAdkService`; `not_found` if the session was deleted;
   * `stale_session` if the handle is behind and the service has
   * `stale: 'reject'`, or if the session has another revision than `expectedRevision`; `schema_violation`; `aborted`; `closed`; and the codes of the storage, such as `quota_exceeded`
   * and `connection_lost`
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
  updateSession(key: UpdateSessionRequest, changes: SessionChanges): Promise<void>;
  /**
   * Returns a session's title, labels and times, the number and size of its events, and the tokens that they used.
   *
   * The numbers are computed from all stored events, which the call reads page by page: it takes about as long as
   * `getSession`, and little memory. Over Vertex AI, and through an adapter without `readPage`, it reads all events at
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
   * Waits for pending calls; later calls reject with `closed`. A second close resolves.
   *
   * @throws SessionError (as a rejection) `storage_failed` if the storage cannot be closed, or settles too late
   */
  close(options?: CloseOptions): Promise<void>;
  /** Closes the service at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}
