/// <reference lib="esnext.disposable" preserve="true" />
import type { Event } from './event.js';
import type {
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
} from './session.js';
import type { StateShape } from '../state/state_shape.js';

/**
 * That the browser has given a database up, with all sessions in it.
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
  /** When it was noticed, in milliseconds since 1970. */
  when: number;
  /** What the browser says of it. */
  message: string;
}

/**
 * Where a service keeps its data.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const { kind, durable } = new InMemorySessionService().storage; // 'memory', false
 * ```
 */
export interface StorageInfo {
  /** `'memory'`, `'indexeddb'`, or `'custom'` for an adapter that gives no name of its own. */
  kind: string;
  /** Whether the data outlives the process or page. */
  durable: boolean;
  /** Why `'auto'` chose it. */
  reason?: string | undefined;
  /** Over IndexedDB: the loss of the database that this page noticed when it opened it. */
  lost?: DataLoss | undefined;
}

/**
 * What every session service fulfils, whatever storage lies underneath.
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
export interface BaseSessionService<S extends StateShape = StateShape> {
  readonly storage: StorageInfo;
  /** @throws SessionError `already_exists`, `invalid_argument`, `unserializable` */
  createSession(request: CreateSessionRequest<S>): Promise<Session<S>>;
  /** `undefined` when there is no such session. */
  getSession(request: GetSessionRequest): Promise<Session<S> | undefined>;
  /** Atomic: however many callers at once, there is one session and no error. */
  getOrCreateSession(request: CreateSessionRequest<S>): Promise<Session<S>>;
  listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse<S>>;
  /** Without the total, where `withTotal` is `false`. */
  listSessions(request: ListSessionsPageRequest): Promise<SessionsPage<S>>;
  /** Resolves also when there is none. App and user state stay. */
  deleteSession(request: DeleteSessionRequest): Promise<void>;
  /** Stores the event and its delta in one atomic step; resolves to the same event object. */
  appendEvent(request: AppendEventRequest<S>): Promise<Event>;
  /** All of them or none, in order. */
  appendEvents(request: AppendEventsRequest<S>): Promise<Event[]>;
  updateState(request: UpdateStateRequest): Promise<void>;
  /** Keys without their prefix. */
  getUserState(request: UserRequest): Promise<StateShape>;
  /** Keys without their prefix. */
  getAppState(request: AppRequest): Promise<StateShape>;
  /** Deletes the user's sessions and state. */
  deleteUser(request: UserRequest): Promise<void>;
  deleteUserState(request: UserRequest): Promise<void>;
  deleteAppState(request: AppRequest): Promise<void>;
  /** Pending work settles, later calls reject with `closed`. A second close resolves. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
