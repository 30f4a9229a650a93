import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { InMemorySessionService } from '../in_memory_session_service.js';
import {
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
} from '../indexed_db_session_service.js';
import { takeOptions } from '../../core/call/call.js';
import { partsOver } from '../over_storage.js';
import { DATABASE_TRAITS } from '../../stores/database/database_traits.js';
import {
  type Address,
  FORMS,
  isDurable,
  kindOfScheme,
  parseAddress,
  splitUri,
} from '../../stores/database/engine/address.js';
import type { TableOptions } from '../../stores/database/table_options.js';
import { requireTableNames } from '../../stores/database/tables/table_names.js';
import type { SessionService } from '../../values/model/session_service.js';
import { ServiceCore } from '../service_core.js';
import type { SessionServiceOptions } from '../service_options.js';
import { StoredSessionService } from '../stored_session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { VertexAiOptions } from '../vertex/vertex_ai_session_service.js';
import { VertexService } from '../vertex/vertex_service.js';
import { requireId } from '../../values/model/values/ids.js';
import { isEngineName } from '../../stores/vertex/rest/engine_address.js';

/**
 * Options of {@link getSessionServiceFromUri}. Options that do not apply to the URI's storage are ignored, so
 * that one configuration works for all. The exceptions are `schema` and `tablePrefix`, which keep tenants
 * apart: a storage that others can reach and that has no tables refuses them.
 */
export interface SessionServiceUriOptions<S extends object = StateShape>
  extends
    SessionServiceOptions<S>,
    Omit<IndexedDbSessionServiceOptions, 'name' | keyof SessionServiceOptions>,
    Omit<VertexAiOptions, 'agentEngineId' | keyof SessionServiceOptions>,
    TableOptions {
  /** For databases: passed to the driver unchanged. */
  driverOptions?: object | undefined;
}

/**
 * Returns the session service that a URI names. A program can take the URI from its configuration, as with
 * `@google/adk` and google-adk for Python.
 *
 * | URI | service |
 * | --- | --- |
 * | `memory://` | `InMemorySessionService` |
 * | `sqlite:PATH`, `sqlite::memory:` | `DatabaseSessionService` over a SQLite file, or over memory |
 * | `postgresql://…`, `mysql://…`, `mariadb://…` | `DatabaseSessionService` over a server's database |
 * | `indexeddb:NAME` | `IndexedDbSessionService`, in a browser |
 * | `agentengine://ENGINE`, `vertexai://ENGINE` | `VertexAiSessionService`; ENGINE is the engine's number or full name |
 *
 * Python's URIs with a driver (`postgresql+asyncpg://`, `sqlite+aiosqlite:///PATH`) are accepted too. Nothing
 * is loaded or opened before the first call. Only then does a program load the database code, and a page
 * never does.
 *
 * @param uri the service's URI; no error shows it, and no driver's error shows its password
 * @throws SessionError `invalid_argument` if the URI names no service; the message lists the valid forms.
 *   Calls of the service reject with `storage_unavailable` if the storage does not exist here, such as a SQL
 *   database in a page
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
export function getSessionServiceFromUri<S extends object = StateShape>(
  uri: string,
  given: SessionServiceUriOptions<S> = {},
): SessionService<S> {
  const serviceUri = parseUri(uri);
  const options = takeOptions(given);
  switch (serviceUri.kind) {
    case 'memory':
      return new InMemorySessionService<S>(options);
    case 'indexeddb':
      refuseTableNames(options);
      return new IndexedDbSessionService<S>({ ...options, name: serviceUri.name });
    case 'database': {
      const { address, url } = serviceUri;
      const { kind } = address;
      requireTableNames(kind, options);
      const facts = { kind, durable: isDurable(address), traits: DATABASE_TRAITS };
      const parts = partsOver(facts, async () => {
        const { openStorage } = await import('#database');
        return openStorage({ ...options, url });
      });
      return new StoredSessionService<S>(new ServiceCore(parts, options));
    }
    case 'vertexai': {
      const { agentEngineId } = serviceUri;
      refuseTableNames(options);
      return new VertexService<S>(async () => {
        const { openStorage } = await import('../vertex/vertex_ai_session_service.js');
        return openStorage({ ...options, agentEngineId });
      }, options);
    }
  }
}

/**
 * Refuses `schema` and `tablePrefix`. If they were ignored, tenants would share data that these names keep
 * apart.
 */
function refuseTableNames({ schema, tablePrefix }: SessionServiceUriOptions): void {
  if (schema === undefined && tablePrefix === undefined) return;
  const key = schema === undefined ? 'tablePrefix' : 'schema';
  throw invalid(key, 'applies only to SQL databases; this URI names none');
}

/** The service that a URI names. */
type ServiceUri =
  | { readonly kind: 'memory' }
  /** `name` is `undefined` for the default database. */
  | { readonly kind: 'indexeddb'; readonly name: string | undefined }
  | { readonly kind: 'database'; readonly address: Address; readonly url: string }
  /** `agentEngineId` is `undefined` if each app name is an engine's number or name. */
  | { readonly kind: 'vertexai'; readonly agentEngineId: string | undefined };

const VALID_FORMS = `memory://, ${FORMS.join(', ')}, indexeddb:NAME or agentengine://ENGINE`;

/**
 * Parses the URI. No error shows any part of it: a text without a known scheme may be a password.
 *
 * @param argument name of the argument in errors
 * @throws SessionError `invalid_argument`
 */
function parseUri(uri: unknown, argument = 'uri'): ServiceUri {
  if (typeof uri !== 'string') throw invalidValue(argument, 'must be a string', uri);
  const { scheme, rest } = splitUri(uri);
  if (kindOfScheme(scheme) !== undefined) {
    return { kind: 'database', address: parseAddress(uri), url: uri };
  }
  switch (scheme) {
    case 'memory':
      if (rest === '' || rest === '//') return { kind: 'memory' };
      throw invalid(argument, 'must end after memory://; a SQLite file is sqlite:PATH');
    case 'indexeddb':
      return { kind: 'indexeddb', name: parseDatabaseName(rest, argument) };
    case 'vertexai':
    case 'agentengine':
      return { kind: 'vertexai', agentEngineId: parseEngineName(rest, argument) };
    default:
      throw invalid(argument, `must be ${VALID_FORMS}`);
  }
}

function parseDatabaseName(rest: string, argument: string): string | undefined {
  const text = rest.replace(/^\/\//, '');
  if (text === '') return undefined;
  let name: string | undefined;
  try {
    name = decodeURIComponent(text);
  } catch {
    // Reported below.
  }
  if (name !== undefined) return requireId('name', name);
  throw invalid(argument, 'must be indexeddb:NAME with special characters percent-encoded');
}

function parseEngineName(rest: string, argument: string): string | undefined {
  const name = rest.replace(/^\/\//, '');
  if (name === '') return undefined;
  if (isEngineName(name)) return name;
  throw invalid(
    argument,
    'must have an agent engine after its scheme: its number, or ' +
      'projects/PROJECT/locations/LOCATION/reasoningEngines/NUMBER',
  );
}
