import { invalid, shown } from '../call/call.js';
import { type KnownOptions, SERVICE_OPTIONS, takeOptions } from '../service/known_options.js';
import { partsOverOwn } from '../service/over_adapter.js';
import type { SessionServiceOptions } from '../service/service_options.js';
import { StoredSessionService } from '../service/stored_session_service.js';
import type { StateShape } from '../state/state_shape.js';
import { Access, type AccessToken } from './rest/access.js';
import { Closing } from './rest/closing.js';
import { EngineAddresses } from './rest/engine_address.js';
import { withVertexIds } from './verbs/session_ids.js';
import { VertexAdapter } from './vertex_adapter.js';

/**
 * Which agent engine is used, and by whom; beside what every service takes.
 *
 * @example
 * ```ts
 * import { VertexAiSessionService, type VertexAiOptions } from 'adk-session-wasm/vertex';
 *
 * const options: VertexAiOptions = { projectId: 'tea', location: 'europe-west4', agentEngineId: '4611686018427387904' };
 * const service = new VertexAiSessionService(options);
 * await service.close();
 * ```
 */
export interface VertexAiOptions extends SessionServiceOptions {
  /** Default: of the engine's name, else `GOOGLE_CLOUD_PROJECT` of the environment. */
  projectId?: string | undefined;
  /** Default: of the engine's name, else `GOOGLE_CLOUD_LOCATION` of the environment. */
  location?: string | undefined;
  /**
   * The engine whose sessions they are: its number, or its full name
   * `projects/PROJECT/locations/LOCATION/reasoningEngines/NUMBER`. Default: each `appName` must be one of those.
   * With it all apps share the engine's sessions.
   */
  agentEngineId?: string | undefined;
  /**
   * A key of Vertex AI's express mode, in the place of project, location and token. Default: `GOOGLE_API_KEY` of
   * the environment, if `GOOGLE_GENAI_USE_ENTERPRISE` or `GOOGLE_GENAI_USE_VERTEXAI` there is `true` or `1` and no
   * project is given.
   */
  expressModeApiKey?: string | undefined;
  /** Default: Application Default Credentials, by `google-auth-library`, which is to be installed for that. */
  accessToken?: AccessToken | undefined;
  /** Where the server is, if not at Google: a proxy, a test. Up to the API's version. */
  baseUrl?: string | undefined;
  /**
   * Whole milliseconds that a request may take, the access token before it, and the creation or deletion of a
   * session; default 60 000.
   */
  timeoutMs?: number | undefined;
  /**
   * Whole milliseconds that a call may take in all: it may wait for others of its session, read many pages, try
   * again, and append many events one by one; default 300 000.
   */
  callTimeoutMs?: number | undefined;
}

const VERTEX_OPTIONS: KnownOptions<VertexAiOptions> = {
  ...SERVICE_OPTIONS,
  projectId: true,
  location: true,
  agentEngineId: true,
  expressModeApiKey: true,
  accessToken: true,
  baseUrl: true,
  timeoutMs: true,
  callTimeoutMs: true,
};

const TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 300_000;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Keeps sessions at Vertex AI, in an agent engine, and shares them with agents that use the
 * `VertexAiSessionService` of google-adk for Python or of `@google/adk`: each continues the other's sessions.
 *
 * It works wherever `fetch` does: in Node, Deno and pages; a page gives an `accessToken` or an
 * `expressModeApiKey`. Constructing it connects to nothing.
 *
 * What is otherwise than over the other storages:
 *
 * - `user:` and `app:` keys go to the server with the session's own, under their whole names, and a session
 *   shows what the server shows: in recordings of the real one what it shows to the user's and the engine's
 *   other sessions as well. `getUserState` and `getAppState` read what one of these shows. Without a session
 *   such keys can be neither changed nor deleted (`unsupported`).
 * - A key that is `null` is removed.
 * - Session ids are of 1 to 63 lower-case letters, digits and `-`, which stands neither first nor last; those
 *   that the service makes begin with a letter. They are the engine's: an id that another user has is taken.
 * - `appendEvents` is not all or nothing: if it fails, the error says how many are stored, and calling it
 *   again with the same events stores the rest; with `stale: 'reject'` through a handle that is read anew.
 * - The server knows no transaction: of two programs that append at the same moment neither is refused.
 * - Keys in a state have no order. `lastUpdateTime` is the server's.
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
export class VertexAiSessionService<
  S extends StateShape = StateShape,
> extends StoredSessionService<S> {
  /** @throws SessionError `invalid_argument` for options that mean nothing; it shows no token and no key */
  constructor(options: VertexAiOptions = {}) {
    const taken = takeOptions(options, VERTEX_OPTIONS);
    super(partsOverOwn(openAdapter(taken)), withVertexIds(taken));
  }
}

/**
 * The storage of a `VertexAiSessionService`, for what needs it without that service around it.
 *
 * @throws SessionError `invalid_argument` as the constructor of the service
 */
export function openAdapter(options: VertexAiOptions): VertexAdapter {
  const { accessToken, timeoutMs = TIMEOUT_MS, callTimeoutMs = CALL_TIMEOUT_MS } = options;
  requireTime('timeoutMs', timeoutMs);
  requireTime('callTimeoutMs', callTimeoutMs);
  const addresses = new EngineAddresses(options);
  const access = new Access({ accessToken, expressModeApiKey: addresses.apiKey });
  const connection = { access, timeoutMs, closing: new Closing() };
  return new VertexAdapter(connection, addresses, callTimeoutMs);
}

function requireTime(key: string, time: number): void {
  if (Number.isInteger(time) && time > 0 && time <= LONGEST_TIMEOUT_MS) return;
  const rule = `must be whole milliseconds up to ${LONGEST_TIMEOUT_MS}; it is ${shown(time)}`;
  throw invalid(key, rule);
}
