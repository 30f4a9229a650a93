import { InMemorySessionService } from '../service/in_memory_session_service.js';
import {
  INDEXED_DB_OPTIONS,
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
} from '../service/indexed_db_session_service.js';
import {
  knownOf,
  type KnownOptions,
  SERVICE_OPTIONS,
  takeOptions,
} from '../service/known_options.js';
import { partsOverOwn } from '../service/over_adapter.js';
import type { TableOptions } from '../database/table_options.js';
import { requireTableNames } from '../database/tables/table_names.js';
import { invalid } from '../call/call.js';
import type { SessionServiceOptions } from '../service/service_options.js';
import { StoredSessionService } from '../service/stored_session_service.js';
import type { StateShape } from '../state/state_shape.js';
import type { VertexAiOptions } from '../vertex/vertex_ai_session_service.js';
import { withVertexIds } from '../vertex/verbs/session_ids.js';
import { LazyAdapter } from './lazy_adapter.js';
import { parseUri } from './parse_uri.js';

/**
 * How the service that a URI names is used. What its storage does not know is passed over, so that one
 * setting of a program does for all. But `schema` and `tablePrefix` keep tenants apart: a storage that others
 * can reach and that has no tables refuses them.
 *
 * @example
 * ```ts
 * import { getSessionServiceFromUri, type SessionServiceUriOptions } from 'adk-session-wasm/uri';
 *
 * const options: SessionServiceUriOptions = { durability: 'relaxed', driverOptions: { max: 20 } };
 * const service = getSessionServiceFromUri('postgresql://ada@127.0.0.1/agents', options);
 * ```
 */
export interface SessionServiceUriOptions
  extends
    Omit<IndexedDbSessionServiceOptions, 'name'>,
    Omit<VertexAiOptions, 'agentEngineId' | keyof SessionServiceOptions>,
    TableOptions {
  /** For databases: goes to the driver as it is. */
  driverOptions?: object | undefined;
}

const URI_OPTIONS: KnownOptions<SessionServiceUriOptions> = {
  ...SERVICE_OPTIONS,
  durability: true,
  timeoutMs: true,
  callTimeoutMs: true,
  blockedTimeoutMs: true,
  onDataLoss: true,
  mirror: true,
  driverOptions: true,
  createTables: true,
  schema: true,
  tablePrefix: true,
  projectId: true,
  location: true,
  expressModeApiKey: true,
  accessToken: true,
  baseUrl: true,
};

/**
 * The session service that a URI names: what a program takes from its configuration, as `@google/adk` and
 * google-adk for Python have it.
 *
 * | URI | service |
 * | --- | --- |
 * | `memory://` | `InMemorySessionService` |
 * | `sqlite:PATH`, `sqlite::memory:` | a SQLite file, as `DatabaseSessionService` |
 * | `postgresql://…`, `mysql://…`, `mariadb://…` | a server's database, likewise |
 * | `indexeddb:NAME` | `IndexedDbSessionService`, in a browser |
 * | `agentengine://ENGINE`, `vertexai://ENGINE` | `VertexAiSessionService`; the engine is its number or full name |
 *
 * Python's spellings with a driver in them (`postgresql+asyncpg://`, `sqlite+aiosqlite:///PATH`) name the
 * same. Nothing is loaded or opened before the first call: only then does a program load what databases
 * need, and a page never does.
 *
 * @param uri is in no error, nor is its password in one of a driver
 * @throws SessionError `invalid_argument`: it names no service, with those that there are. The service's
 *   calls reject with `storage_unavailable` where there is no such storage, as no SQL database for a page
 *
 * @example
 * ```ts
 * import { getSessionServiceFromUri } from 'adk-session-wasm/uri';
 *
 * const service = getSessionServiceFromUri(process.env.SESSIONS ?? 'memory://');
 * const session = await service.getOrCreateSession({ appName: 'shop', userId: 'ada', sessionId: 's1' });
 * await service.close();
 * ```
 */
export function getSessionServiceFromUri<S extends StateShape = StateShape>(
  uri: string,
  given: SessionServiceUriOptions = {},
): StoredSessionService<S> {
  const named = parseUri(uri);
  const options = takeOptions(given, URI_OPTIONS);
  switch (named.kind) {
    case 'memory':
      return new InMemorySessionService<S>(knownOf(options, SERVICE_OPTIONS));
    case 'indexeddb':
      requireNoNames(options);
      return new IndexedDbSessionService<S>({
        ...knownOf<IndexedDbSessionServiceOptions>(options, INDEXED_DB_OPTIONS),
        name: named.name,
      });
    case 'database': {
      const { engine: kind, durable, url } = named;
      requireTableNames(kind, options);
      const adapter = new LazyAdapter({ kind, durable }, async () => {
        const { openAdapter } = await import('#database');
        return openAdapter({ ...options, url });
      });
      return new StoredSessionService<S>(partsOverOwn(adapter), options);
    }
    case 'vertexai': {
      const { agentEngineId } = named;
      requireNoNames(options);
      const adapter = new LazyAdapter({ kind: 'vertexai', durable: true }, async () => {
        const { openAdapter } = await import('../vertex/vertex_ai_session_service.js');
        return openAdapter({ ...options, agentEngineId });
      });
      return new StoredSessionService<S>(partsOverOwn(adapter), withVertexIds(options));
    }
  }
}

/** Tenants whose names were passed over would share what they are to keep apart. */
function requireNoNames({ schema, tablePrefix }: SessionServiceUriOptions): void {
  if (schema === undefined && tablePrefix === undefined) return;
  const key = schema === undefined ? 'tablePrefix' : 'schema';
  throw invalid(key, 'is for SQL databases alone; this URI names none');
}
