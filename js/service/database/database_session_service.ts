import { rules } from '#rules';
import { SessionError } from '../../values/errors/errors.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import type { Kysely } from 'kysely';
import { takeOptions } from '../../core/call/call.js';
import {
  MAX_TIMEOUT_MS,
  requireBoolean,
  requireMilliseconds,
  requireObject,
  requireOneOf,
} from '../../values/errors/option_values.js';
import { DATABASE_TRAITS } from '../../stores/database/database_traits.js';
import { newEventId } from '../../values/model/event/create_event.js';
import { partsOver } from '../over_storage.js';
import type { ServiceParts, SessionServiceOptions } from '../service_options.js';
import { ServiceCore } from '../service_core.js';
import { checkedClock } from '../sources.js';
import { StoredSessionService } from '../stored_session_service.js';
import { DatabaseUse, hasOtherProcesses } from './shared_database.js';
import type { ChannelOptions, OpenChannel } from '../../core/watch/open_channel.js';
import { ProcessFeed, takeChannel } from '../../core/watch/process_feed.js';
import type { StateShape } from '../../values/state/state_shape.js';
import {
  ADDRESS_RULES,
  ENGINE_KINDS,
  isDurable,
  parseAddress,
} from '../../stores/database/engine/address.js';
import type { DatabaseStorage, DatabaseToOpen } from '../../stores/database/database_storage.js';
import type { EngineKind } from '../../stores/database/engine/engine.js';
import { isSqliteHandle, type SqliteHandle } from '../../stores/database/engine/sqlite_handle.js';
import {
  isOptimisticDriver,
  type OptimisticDriver,
} from '../../stores/database/engine/optimistic_driver.js';
import { loadWithKysely } from '../../stores/database/kysely.js';
import type { TableOptions } from '../../stores/database/table_options.js';
import { requireTableNames } from '../../stores/database/tables/table_names.js';
import { DEFAULT_TIMEOUT_MS, Waits } from '../../stores/database/engine/waits.js';
import type { Database } from '../../stores/database/tables/tables.js';

/** The option of every database that several processes may share. */
export interface ChannelOption {
  /**
   * Connects the processes that share the tables, such as {@link postgresChannel}. Each then tells the others what it
   * changes, at once, also deletions, titles and labels. All processes need it. Default: none. Then a server asks the
   * database once a second for the appends and states of others.
   */
  channel?: OpenChannel | ChannelOptions | undefined;
}

/** Options for a database that the service opens itself, in addition to the options of every service. */
export interface DatabaseOptions<S extends object = StateShape>
  extends SessionServiceOptions<S>, TableOptions, ChannelOption {
  /**
   * The failures that a resolved call survives. `'strict'` (default): a power loss, if the disk really
   * flushes. `'relaxed'`: the end of the program; the last moments before a power loss may be lost, on
   * PostgreSQL also those before a crash of the server. Only a server of
   * MariaDB can set this for itself, so a service over MariaDB refuses `'relaxed'`.
   */
  durability?: 'strict' | 'relaxed' | undefined;
  /**
   * Passed to the driver unchanged: to the constructor of `better-sqlite3`, or to the pool of `pg` or
   * `mysql2`. For `pg` the default is `pipeline: true`, which sends queries without waiting for each other.
   */
  driverOptions?: object | undefined;
  /**
   * The limit of every wait, in milliseconds; default 30,000. It holds for a connection, for each answer of
   * the server and for locks of others. PostgreSQL gets it for each transaction: as
   * `idle_in_transaction_session_timeout`, and for writes as `statement_timeout` too, unless `driverOptions`
   * names these. A call fails with `connection_lost` if the server is silent for a second longer.
   */
  timeoutMs?: number | undefined;
}

/** Names the database by its URL. */
export interface DatabaseUrlOptions<S extends object = StateShape> extends DatabaseOptions<S> {
  /** See {@link DatabaseSessionService}. */
  url: string;
}

/** Options for a Kysely of yours. The service uses it, and leaves its settings and its closing to you. */
export interface DatabaseKyselyOptions<S extends object = StateShape>
  extends SessionServiceOptions<S>, TableOptions, ChannelOption {
  /** A `Kysely` of any tables: these members are the same whatever tables it declares. */
  kysely: Pick<Kysely<unknown>, 'destroy' | 'getExecutor'>;
  /** The dialect of the database, and its error codes. */
  engine: EngineKind;
  /**
   * How long a call waits for a connection and for each answer, in milliseconds; default 30,000. A connection
   * that does not answer is never used again. The service cannot close it or kill its statement, as it does
   * on its own connections. Its locks last until the server has ended the statement or lost the connection.
   */
  timeoutMs?: number | undefined;
}

/**
 * Options for a connection to SQLite of yours, which is synchronous. The service uses it, sets no pragma, and leaves its
 * closing to you.
 */
export interface DatabaseHandleOptions<S extends object = StateShape>
  extends SessionServiceOptions<S>, TableOptions, ChannelOption {
  /**
   * A database of `better-sqlite3`, `node:sqlite`, `bun:sqlite` or `libsql`, or the `ctx.storage` of a Durable Object. If
   * it waits for locks, it blocks the thread: open it with a timeout of 0. An embedded replica of `libsql` blocks the
   * thread while it sends a write to its server. While a transaction of yours is open on it, calls fail with
   * `storage_failed`.
   */
  sqlite: SqliteHandle;
  /** How long a call is repeated while others hold the database, in milliseconds; default 30,000. */
  timeoutMs?: number | undefined;
}

/** Options for a database that takes a list of statements at once. */
export interface DatabaseDriverOptions<S extends object = StateShape>
  extends SessionServiceOptions<S>, TableOptions, ChannelOption {
  /** Sends the statements. It is yours: the service does not close it. */
  driver: OptimisticDriver;
  /** The dialect of the database, and its error codes. */
  engine: Exclude<EngineKind, 'mysql'>;
  /**
   * How long a call waits for each answer, and how long it is repeated while others change what it reads, in
   * milliseconds; default 30,000. It then fails with `storage_blocked`.
   */
  timeoutMs?: number | undefined;
}

/** The options of a service over any database: a URL, a Kysely instance, a connection or a driver. */
export type AnyDatabaseOptions<S extends object = StateShape> =
  | DatabaseUrlOptions<S>
  | DatabaseKyselyOptions<S>
  | DatabaseHandleOptions<S>
  | DatabaseDriverOptions<S>;

/**
 * Keeps sessions in a SQLite file, PostgreSQL or MariaDB, in the tables of google-adk Python's
 * `DatabaseSessionService`. Agents in Python and in JavaScript share the database, and each continues the
 * other's sessions.
 *
 * A SQLite file of Python's `SqliteSessionService`, as the `adk` command makes it, is recognised, and read
 * and written in its own form. In such a file no key and no string value of a state may contain U+0000,
 * because Python's next write to that state would cut it off. The write fails with `unserializable` and the
 * path.
 *
 * The URL is `sqlite:PATH` (`sqlite::memory:` for a database in memory), `postgresql://…`, `mysql://…` or
 * `mariadb://…`. Python's spelling with a driver in it (`sqlite+aiosqlite:///PATH`) is accepted too. Install
 * `kysely` and the driver beside this package: `better-sqlite3` (or use Node's built-in `node:sqlite`), `pg` or
 * `mysql2`.
 *
 * The constructor does not connect: the first call does, such as `ping`. Missing
 * tables are created.
 *
 * @example
 * ```ts
 * import { DatabaseSessionService } from 'adk-session-wasm/database';
 *
 * const service = new DatabaseSessionService('sqlite::memory:');
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.getOrCreateSession(key);
 * await service.close();
 * ```
 */
export class DatabaseSessionService<S extends object = StateShape> extends StoredSessionService<S> {
  /** @throws SessionError `invalid_argument`, without the URL, if the URL or an option is invalid */
  constructor(url: string, options?: DatabaseOptions<S>);
  constructor(options: AnyDatabaseOptions<S>);
  constructor(given: string | AnyDatabaseOptions<S>, beside: DatabaseOptions<S> = {}) {
    requireObject('The options', beside);
    if (typeof given !== 'string' && typeof given !== 'object') {
      throw invalidValue('url', 'must be a string, or options with a url', given);
    }
    const all = typeof given === 'string' ? { ...beside, url: given } : given;
    const options = takeOptions(all);
    const database = checkedOptions(options);
    const facts = { ...database, traits: DATABASE_TRAITS };
    let loading: Promise<DatabaseStorage> | undefined;
    const load = () =>
      (loading ??= loadStorage(database).catch((error: unknown) => {
        loading = undefined;
        throw error;
      }));
    const openArtifacts = async () => {
      const code = () => import('../../stores/database/artifacts/database_home.js');
      const { DatabaseHome } = await loadWithKysely(database.kind, code);
      return new DatabaseHome(load, newEventId);
    };
    const channel = options.channel === undefined ? undefined : takeChannel(options.channel);
    const readSecret = async (): Promise<string> => (await load()).channelSecret();
    const use = new DatabaseUse(database);
    const parts = {
      ...partsOver(facts, load),
      feed: channel && ((report) => new ProcessFeed({ ...channel, readSecret, report })),
      openArtifacts,
      rules,
      get sharedStorage() {
        return use.storage;
      },
      hasOtherProcesses: channel !== undefined || hasOtherProcesses(database),
      // The files alone may have loaded the storage.
      closing: (timeoutMs: number | undefined) =>
        void loading?.then((storage) => storage.closing(timeoutMs)).catch(() => undefined),
      closeStorage: async () => {
        use.release();
        await (await loading?.catch(() => undefined))?.close();
      },
    } satisfies ServiceParts;
    super(new ServiceCore(parts, options));
  }
}

/**
 * Returns the storage of a `DatabaseSessionService`, for callers that do not need the service.
 * Connects at its first verb.
 *
 * @throws SessionError (as a rejection) `invalid_argument` as the constructor of the service,
 *   `storage_unavailable` if Kysely is not installed
 */
export async function openStorage(options: AnyDatabaseOptions<object>): Promise<DatabaseStorage> {
  return loadStorage(checkedOptions(options));
}

async function loadStorage(database: DatabaseToOpen): Promise<DatabaseStorage> {
  if ('address' in database.from && (globalThis as { process?: unknown }).process === undefined) {
    const message = 'Databases work in Node, and a page cannot reach one; use IndexedDB in a page.';
    throw new SessionError('storage_unavailable', message, { storage: database.kind });
  }
  const load = () => import('../../stores/database/database_storage.js');
  const { DatabaseStorage } = await loadWithKysely(database.kind, load);
  return new DatabaseStorage(database);
}

function checkedOptions(options: AnyDatabaseOptions<object>): DatabaseToOpen {
  const clock = checkedClock(options.clock ?? Date.now);
  const waits = new Waits(
    requireMilliseconds('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1, LONGEST_WAIT_MS),
  );
  if ('kysely' in options) {
    const { engine: kind } = options;
    const kysely: unknown = options.kysely;
    if (!ENGINE_KINDS.includes(kind)) {
      throw invalidValue('engine', `must be one of ${ENGINE_KINDS.join(', ')}`, kind);
    }
    if (!isKysely(kysely)) {
      throw invalidValue('kysely', 'must be an instance of Kysely', kysely);
    }
    requireNoPlugins(kysely);
    const tables = tablesOf(kind, options);
    return { kind, durable: true, from: { kysely }, ...tables, clock, waits };
  }
  if ('sqlite' in options) {
    const sqlite: unknown = options.sqlite;
    if (!isSqliteHandle(sqlite)) {
      throw invalidValue('sqlite', 'must be a synchronous connection to SQLite', sqlite);
    }
    const tables = tablesOf('sqlite', options);
    return { kind: 'sqlite', durable: true, from: { sqlite }, ...tables, clock, waits };
  }
  if ('driver' in options) {
    const driver: unknown = options.driver;
    const { engine: kind } = options;
    requireOneOf('engine', kind, ['sqlite', 'postgresql']);
    if (!isOptimisticDriver(driver)) {
      throw invalidValue('driver', 'must have the functions read and commit', driver);
    }
    const tables = tablesOf(kind, options);
    return { kind, durable: true, from: { driver }, ...tables, clock, waits };
  }
  const address = parseAddress(options.url);
  const { kind } = address;
  const { durability = 'strict', driverOptions = {} } = options;
  requireDurability(durability, kind);
  requireDriverOptions(driverOptions, kind);
  const from = { address, durability, driverOptions };
  const tables = tablesOf(kind, options);
  return { kind, durable: isDurable(address), from, ...tables, clock, waits };
}

function tablesOf(
  kind: EngineKind,
  options: TableOptions,
): Pick<DatabaseToOpen, 'names' | 'access'> {
  const { createTables = true } = options;
  const names = requireTableNames(kind, options);
  requireBoolean('createTables', createTables);
  return { names, access: createTables ? 'create' : 'write' };
}

/** Refuses plugins: they may rename tables or columns, and the service needs its own names. */
function requireNoPlugins(kysely: Database): void {
  const plugins = kysely.getExecutor().plugins.map((plugin) => plugin.constructor.name);
  if (plugins.length === 0) return;
  throw invalid(
    'kysely',
    `has plugins (${plugins.join(', ')}), which the service cannot heed; give kysely.withoutPlugins(), and for withSchema the option schema`,
  );
}

/** Less the second that `Waits` adds. */
const LONGEST_WAIT_MS = MAX_TIMEOUT_MS - 1000;

/** Whether the value is a Kysely, of any copy of the package. */
function isKysely(value: unknown): value is Database {
  return typeof (Object(value) as Partial<Database>).withoutPlugins === 'function';
}

function requireDriverOptions(options: object, kind: EngineKind): void {
  requireObject('The options', options);
  const { ssl } = options as { ssl?: unknown };
  if (typeof ssl === 'string' && !ADDRESS_RULES[kind].takesSslText) {
    throw invalid(
      'driverOptions.ssl',
      'must be true, false or an object of options for TLS; it is a string',
    );
  }
}

function requireDurability(durability: unknown, kind: EngineKind): void {
  requireOneOf('durability', durability, ['strict', 'relaxed']);
  const { durabilityOfServer } = ADDRESS_RULES[kind];
  if (durability === 'relaxed' && durabilityOfServer !== undefined) {
    throw invalid('durability', durabilityOfServer);
  }
}
