import { loadOptional } from '../../wasm/loader/optional_package.js';
import { type Address, IN_MEMORY } from '../engines/address.js';
import type { Begin, Engine } from '../engines/engine.js';
import { ENGINES, loadDriver } from '../engines/engines.js';
import { databaseError, failureKind } from '../engines/failure.js';
import { sqliteRunner } from '../transactions/sqlite_runner.js';
import { kyselyPool } from './kysely_pool.js';
import type { ServerPool } from '../transactions/lease.js';
import type { MysqlPromisePool } from './mysql_types.js';
import { mysqlPool } from './mysql_pool.js';
import {
  type PgClientClass,
  type PgPool,
  type PgRowsClass,
  postgresPool,
} from './postgres_pool.js';
import { NO_ESCAPES } from '../tables/exactness.js';
import { serverRunner } from '../transactions/server_runner.js';
import type { Waits } from '../transactions/waits.js';
import { fileCheck } from './file_check.js';
import { openSqlite } from './sqlite_file.js';
import { type Database, queryBuilder } from '../tables/tables.js';
import { plainQuery, together } from '../transactions/prepared.js';
import type { Runner } from '../transactions/transaction.js';
import { requireTransactions } from './transaction_check.js';

/** Options for a database that we open ourselves. */
export interface ConnectOptions {
  readonly durability: 'strict' | 'relaxed';
  /** Passed to the driver beside the address. */
  readonly driverOptions: object;
  readonly waits: Waits;
  /** Called if the pool loses a connection. */
  readonly onLost?: (error: unknown) => void;
}

/** The part of `pg` that is used. */
interface Pg {
  default: { Pool: new (options: object) => PgPool; Client: PgClientClass; Query: PgRowsClass };
}

/** The part of `node:crypto` that is used. */
interface NodeCrypto {
  createHash(algorithm: 'sha256'): { update(text: string): { digest(encoding: 'hex'): string } };
}

/** The part of `mysql2` that is used. */
interface Mysql {
  default: { createPool(options: object): MysqlPool };
}

interface MysqlPool {
  on(event: 'connection', listener: (connection: MysqlCallbackConnection) => void): unknown;
  promise(): MysqlPromisePool;
}

interface MysqlCallbackConnection {
  query(query: string, done: () => void): unknown;
}

/** A database with its connection, or with its pool of connections. */
export interface ConnectedDatabase {
  /** Builds queries. */
  readonly database: Database;
  readonly run: Runner;
  /**
   * Switches the file to a write-ahead log. Called only after its tables were accepted, so a refused file
   * stays unchanged.
   */
  readonly useWriteAheadLog?: () => Promise<void>;
  /** Fails if the database's file was deleted or replaced. SQLite itself does not notice that. */
  readonly requireFile?: () => void;
  /** Ends the connections. Those of a user's Kysely stay open. */
  readonly close: () => Promise<void>;
}

/** Opens the connection, or makes the pool that will open it. */
export async function connect(
  address: Address,
  options: ConnectOptions,
): Promise<ConnectedDatabase> {
  switch (address.kind) {
    case 'sqlite':
      return connectSqlite(address.path, options);
    case 'postgresql':
      return connectPostgres(address.url, options);
    case 'mysql':
      return connectMysql(address.url, options);
  }
}

async function connectSqlite(path: string, options: ConnectOptions): Promise<ConnectedDatabase> {
  const engine = ENGINES.sqlite;
  const file = await openSqlite(path, options.driverOptions);
  const run = sqliteRunner(file, engine, options.waits);
  const close = (): Promise<void> => {
    file.close();
    return Promise.resolve();
  };
  const setPragma = async (setting: string) =>
    run('autocommit', () => together([plainQuery(`pragma ${setting}`)]), {});
  try {
    await setPragma('foreign_keys = on');
    await setPragma(`synchronous = ${options.durability === 'strict' ? 'full' : 'normal'}`);
  } catch (error) {
    await close();
    throw error;
  }
  const useWriteAheadLog = async (): Promise<void> => {
    try {
      await setPragma('journal_mode = wal');
    } catch (error) {
      const { cause } = Object(error) as { cause?: unknown };
      // A read-only file keeps its mode.
      if (failureKind(engine, cause) !== 'readonly') throw error;
    }
  };
  const requireFile = path === IN_MEMORY ? undefined : await fileCheck(run);
  return {
    database: queryBuilder(engine),
    run,
    ...(path !== IN_MEMORY && { useWriteAheadLog }),
    ...(requireFile !== undefined && { requireFile }),
    close,
  };
}

async function connectPostgres(url: string, options: ConnectOptions): Promise<ConnectedDatabase> {
  const { default: pg } = await loadDriver<Pg>('postgresql');
  const crypto = await loadOptional<NodeCrypto>('node:crypto');
  // PostgreSQL cuts names to 63 bytes.
  const hash =
    crypto &&
    ((text: string) => crypto.createHash('sha256').update(text).digest('hex').slice(0, 32));
  const { waits, driverOptions } = options;
  const pool = new pg.Pool({
    connectionString: url,
    pipeline: true,
    connectionTimeoutMillis: waits.timeoutMs,
    ...driverOptions,
  });
  const engine = ENGINES.postgresql;
  // Set for one transaction only: a pooler refuses settings of a connection, or passes them on to other
  // clients.
  const settings: Record<string, string | number> = {
    statement_timeout: Math.ceil(waits.timeoutMs),
    idle_in_transaction_session_timeout: Math.ceil(waits.timeoutMs),
    ...(options.durability === 'relaxed' && { synchronous_commit: 'off' }),
  };
  const begins = (begin: readonly string[], names: readonly string[]): string[] => {
    const set = names.filter((name) => !Object.hasOwn(driverOptions, name));
    return [[...begin, ...set.map((name) => `set local ${name} = ${settings[name]}`)].join('; ')];
  };
  const onLost = lossReporter(engine, options.onLost);
  return onServer(postgresPool(pool, pg, hash, onLost), engine, waits, {
    write: begins(engine.begin.write, Object.keys(settings)),
    // A long read may take longer than the limit, as long as rows arrive.
    read: begins(engine.begin.read, ['idle_in_transaction_session_timeout']),
  });
}

async function connectMysql(url: string, options: ConnectOptions): Promise<ConnectedDatabase> {
  const { default: mysql } = await loadDriver<Mysql>('mysql');
  const { waits, driverOptions } = options;
  const createPool = (options: object = {}): MysqlPool =>
    mysql.createPool({
      uri: url,
      charset: 'utf8mb4',
      connectTimeout: Math.ceil(waits.timeoutMs),
      ...driverOptions,
      ...options,
    });
  const pool = createPool();
  const seconds = Math.ceil(waits.timeoutMs / 1000);
  // MySQL lacks the last setting and reads it as a comment. See `requireExactTexts` for the SQL mode.
  const settings = `set session sql_mode = replace(@@sql_mode, '${NO_ESCAPES}', ''), innodb_lock_wait_timeout = ${seconds} /*M!100300 , idle_transaction_timeout = ${seconds} */`;
  pool.on('connection', (connection) => connection.query(settings, () => undefined));
  const engine = ENGINES.mysql;
  const onLost = lossReporter(engine, options.onLost);
  const runs = mysqlPool(pool.promise(), (options) => createPool(options).promise(), onLost);
  return onServer(runs, engine, waits);
}

/** Returns the listener for lost connections of a pool. */
function lossReporter(engine: Engine, onLost: ConnectOptions['onLost']): (error: unknown) => void {
  return (error) => onLost?.(databaseError(engine, error));
}

function onServer(
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
  begin?: Begin,
  database = queryBuilder(engine),
): ConnectedDatabase {
  return {
    database,
    run: serverRunner(pool, engine, waits, begin),
    close: () => pool.end(),
  };
}

/**
 * Takes connections from the Kysely of a user, who closes it.
 *
 * @throws SessionError `storage_unavailable` if it cannot hold a transaction
 */
export async function connectKysely(
  database: Database,
  engine: Engine,
  waits: Waits,
): Promise<ConnectedDatabase> {
  const pool = kyselyPool(database, engine);
  await requireTransactions(database, pool, engine, waits);
  return onServer(pool, engine, waits, engine.begin, database);
}
