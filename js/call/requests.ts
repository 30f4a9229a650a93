/** The members of each method's request. */
import type { ServiceMethod } from '../model/diagnostic.js';
import type { ListChangesRequest } from '../model/changes_since.js';
import type { Expiry } from '../model/description.js';
import type { DeleteSessionsRequest } from '../model/deletion.js';
import type { EventsRequest, ListEventsRequest } from '../model/event_page.js';
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
  UpdateSessionRequest,
  UpdateStateRequest,
  UserRequest,
} from '../model/session.js';
import type { SessionInfoRequest } from '../model/session_info.js';
import type { ListSessionsPageRequest, SessionsRequest } from '../model/session_list.js';
import type { KnownOptions } from './known_options.js';

/** The request of each method. */
interface Requests {
  createSession: CreateSessionRequest;
  getOrCreateSession: CreateSessionRequest;
  getSession: GetSessionRequest;
  listSessions: ListSessionsPageRequest;
  sessions: SessionsRequest;
  listEvents: ListEventsRequest;
  listChanges: ListChangesRequest;
  events: EventsRequest;
  loadOlder: { session: Session; limit: number | undefined };
  deleteSession: DeleteSessionRequest;
  deleteSessions: DeleteSessionsRequest;
  appendEvent: AppendEventRequest;
  appendEvents: AppendEventsRequest;
  updateSession: UpdateSessionRequest;
  sessionInfo: SessionInfoRequest;
  updateState: UpdateStateRequest;
  getUserState: UserRequest;
  getAppState: AppRequest;
  deleteUser: UserRequest;
  deleteUserState: UserRequest;
  deleteAppState: AppRequest;
  ping: Abortable;
}

/** The members of a session's key. */
export const KEY_MEMBERS: KnownOptions<CompositeSessionKey> = {
  appName: true,
  userId: true,
  sessionId: true,
};

/** A session's key may also be given where an app or a user is meant, so that one key serves all calls. */
const KEY: KnownOptions<DeleteSessionRequest> = { ...KEY_MEMBERS, signal: true };
const CREATE: KnownOptions<CreateSessionRequest & Expiry> = {
  ...KEY,
  state: true,
  stateDelta: true,
  events: true,
  sharedState: true,
  lastUpdateTime: true,
  title: true,
  labels: true,
  ttl: true,
  expireTime: true,
};

const LISTS = {
  ...KEY,
  limit: true,
  order: true,
  orderBy: true,
  labels: true,
  title: true,
  stateKeys: true,
} as const;

const PAGES = { ...KEY, before: true, after: true, limit: true, skipCorrupt: true } as const;

export const REQUEST_MEMBERS: {
  readonly [Method in ServiceMethod | 'events' | 'sessions']: KnownOptions<Requests[Method]>;
} = {
  createSession: CREATE,
  getOrCreateSession: CREATE,
  getSession: { ...KEY, config: true },
  listSessions: { ...LISTS, page: true, cursor: true, withTotal: true },
  sessions: LISTS,
  listEvents: { ...PAGES, withCount: true },
  listChanges: { ...KEY, since: true, created: true },
  events: { ...PAGES, order: true },
  loadOlder: { session: true, limit: true },
  deleteSession: KEY,
  deleteSessions: { appName: true, userId: true, olderThan: true, labels: true },
  appendEvent: { session: true, event: true, expectedRevision: true, signal: true },
  appendEvents: { session: true, events: true, expectedRevision: true, signal: true },
  updateSession: KEY,
  sessionInfo: { ...KEY, skipCorrupt: true },
  updateState: { ...KEY, stateDelta: true },
  getUserState: KEY,
  getAppState: KEY,
  deleteUser: KEY,
  deleteUserState: KEY,
  deleteAppState: KEY,
  ping: { signal: true },
};
