import { requireWhole } from '../../values/errors/option_values.js';
import { takeOptions } from '../../core/call/call.js';
import type { SessionServiceOptions } from '../service_options.js';
import type { Expiry } from '../../values/model/description.js';
import type {
  Abortable,
  CompositeSessionKey,
  CreateSessionRequest,
  ImportedSessionRequest,
  Session,
  SessionChanges,
} from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { Access, type AccessToken } from '../../stores/vertex/rest/access.js';
import { closeLimit } from '../../stores/http/call_limit.js';
import { EngineAddresses } from '../../stores/vertex/rest/engine_address.js';
import { VERTEX_AI } from '../../stores/vertex/rest/rest_errors.js';
import { VertexStorage } from '../../stores/vertex/vertex_storage.js';
import { VertexService } from './vertex_service.js';

/**
 * Options of a {@link VertexAiSessionService}: the agent engine, the credentials, and the options of every
 * service.
 */
export interface VertexAiOptions<S extends object = StateShape> extends SessionServiceOptions<S> {
  /** Default: the project in the engine's full name, else the environment variable `GOOGLE_CLOUD_PROJECT`. */
  projectId?: string | undefined;
  /** Default: the location in the engine's full name, else the environment variable `GOOGLE_CLOUD_LOCATION`. */
  location?: string | undefined;
  /**
   * The engine that holds the sessions: its number, or its full name
   * `projects/PROJECT/locations/LOCATION/reasoningEngines/NUMBER`. Default: each `appName` must be such a
   * number or name. If it is given, all apps share the engine's sessions.
   */
  agentEngineId?: string | undefined;
  /**
   * A key of Vertex AI's express mode, instead of project, location and token. Default: `GOOGLE_API_KEY` of
   * the environment, if `GOOGLE_GENAI_USE_ENTERPRISE` or `GOOGLE_GENAI_USE_VERTEXAI` there is `true` or `1`
   * and no project is given.
   */
  expressModeApiKey?: string | undefined;
  /** Default: Application Default Credentials, which need the package `google-auth-library`. */
  accessToken?: AccessToken | undefined;
  /**
   * URL of the server if it is not Google's, for example a proxy or a test server. It ends before the API
   * version.
   */
  baseUrl?: string | undefined;
  /**
   * Timeout in whole milliseconds of one request, of getting its access token, and of the creation or
   * deletion of a session. Default 60 000.
   */
  timeoutMs?: number | undefined;
  /**
   * Timeout in whole milliseconds of a whole call. A call may wait for other calls of its session, read many
   * pages, retry, and append many events one by one. Default 300 000.
   */
  callTimeoutMs?: number | undefined;
}

/** The request to create a session on Vertex AI. It may say when the session expires, by `ttl` or by `expireTime`. */
export interface VertexAiCreateSessionRequest<S extends object = StateShape>
  extends CreateSessionRequest<S>, Expiry {}

/** Changes of a session on Vertex AI. A `ttl` counts from now. */
export interface VertexAiSessionChanges extends SessionChanges, Expiry {}

const TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 300_000;

/**
 * Stores sessions in an agent engine of Vertex AI. Agents that use the `VertexAiSessionService` of google-adk
 * for Python or of `@google/adk` share them: each continues the other's sessions.
 *
 * It works wherever `fetch` does: in Node, Deno and web pages. A web page must give an `accessToken` or an
 * `expressModeApiKey`. The constructor opens no connection.
 *
 * Differences from the other storages:
 *
 * - `user:` and `app:` keys are sent with the session's own keys, under their full names. A session shows
 *   what the server shows. In recordings of the real server, that includes the keys of the user's and the
 *   engine's other sessions. `getUserState` and `getAppState` read them from one of these sessions. Without a
 *   session such keys can be neither changed nor deleted (`unsupported`).
 * - A key whose value is `null` is removed.
 * - A session id has 1 to 63 lower-case letters, digits and `-`, and neither begins nor ends with `-`. Ids
 *   that the service makes begin with a letter. Ids are unique within the engine: an id of another user's
 *   session is taken.
 * - `appendEvents` is not atomic. If it fails, the error says how many events are stored. Call it again with
 *   the same events to store the rest. With `stale: 'reject'`, read the handle again first.
 * - The server has no transactions: if two programs append at the same moment, neither is refused.
 * - The keys of a state have no order. `lastUpdateTime` is set by the server.
 *
 * @example
 * ```ts
 * import { VertexAiSessionService } from 'adk-session-wasm/vertex';
 *
 * const agentEngineId = 'projects/tea/locations/europe-west4/reasoningEngines/4611686018427387904';
 * const service = new VertexAiSessionService({ agentEngineId, accessToken: () => fetchToken() });
 * const session = await service.createSession({ appName: 'shop', userId: 'ada' });
 * await service.close();
 *
 * declare function fetchToken(): Promise<string>;
 * ```
 */
export class VertexAiSessionService<S extends object = StateShape> extends VertexService<S> {
  /** @throws SessionError `invalid_argument` if an option is invalid; the message shows no token and no key */
  constructor(options: VertexAiOptions<S> = {}) {
    const ownOptions = takeOptions(options);
    super(openStorage(ownOptions), ownOptions);
  }

  /** As `createSession` of every service. The request may have an expiry. */
  override createSession(request: VertexAiCreateSessionRequest<S>): Promise<Session<S>>;
  /** @internal */
  override createSession(request: ImportedSessionRequest<S> & Expiry): Promise<Session<S>>;
  override createSession(request: ImportedSessionRequest<S> & Expiry): Promise<Session<S>> {
    return super.createSession(request);
  }

  /** As `getOrCreateSession` of every service. The request may have an expiry. */
  override getOrCreateSession(request: VertexAiCreateSessionRequest<S>): Promise<Session<S>> {
    return super.getOrCreateSession(request);
  }

  /** As `updateSession` of every service. The changes may have an expiry. */
  override updateSession(
    key: CompositeSessionKey & Abortable,
    changes: VertexAiSessionChanges,
  ): Promise<void> {
    return super.updateSession(key, changes);
  }
}

/**
 * Opens the storage of a `VertexAiSessionService` without the service around it.
 *
 * @throws SessionError `invalid_argument` if an option is invalid
 */
export function openStorage(options: VertexAiOptions<object>): VertexStorage {
  const { accessToken, timeoutMs = TIMEOUT_MS, callTimeoutMs = CALL_TIMEOUT_MS } = options;
  requireWhole('timeoutMs', timeoutMs);
  requireWhole('callTimeoutMs', callTimeoutMs);
  const addresses = new EngineAddresses(options);
  const access = new Access({ accessToken, expressModeApiKey: addresses.apiKey });
  const connection = { access, timeoutMs, closeLimit: closeLimit(VERTEX_AI) };
  return new VertexStorage(connection, addresses, callTimeoutMs);
}
