import {
  CompiledQuery,
  Kysely,
  MysqlDialect,
  type MysqlPool,
  PostgresDialect,
  type PostgresPool,
  SqliteDialect,
} from 'kysely';
import { type Address, IN_MEMORY } from './address.js';
import { loadDriver } from './driver.js';
import { type Engine, ENGINES } from './engine.js';
import { failureOf } from './failure.js';
import { type MysqlPromisePool, mysqlRunner } from './mysql_runner.js';
import { LastWrites } from './last_writes.js';
import { type PgPool, type PgRowsClass, postgresRunner } from './postgres_runner.js';
import { kyselyRunner, type Runner, sqliteRunner } from './runner.js';
import { openSqlite } from './sqlite_file.js';
import type { Database } from './tables.js';

/** How a database that we open ourselves is used. */
export interface ConnectOptions {
  readonly durability: 'strict' | 'relaxed';
  /** Goes to the driver beside what the address says. */
  readonly driverOptions: object;
}

/** What of `pg` is used. */
interface Pg {
  default: {
    Pool: new (options: object) => PostgresPool &
      PgPool & {
        on(event: 'connect', listener: (client: PgClient) => void): unknown;
        on(event: 'error', listener: () => void): unknown;
      };
    Query: PgRowsClass;
  };
}

interface PgClient {
  on(event: 'error', listener: () => void): unknown;
}

/** What of `mysql2` is used. */
interface Mysql {
  default: { createPool(options: object): MysqlPool & { promise(): MysqlPromisePool } };
}

/** A connection, or a pool of them. */
export interface Connected {
  /** To look at the tables with, and to build queries. */
  readonly database: Database;
  /** What runs the verbs. */
  readonly run: Runner;
  /** Where nothing but those writes through the connection. */
  readonly lastWrites?: LastWrites;
}

/** Opens the connection, or makes the pool that will. */
export async function connect(address: Address, options: ConnectOptions): Promise<Connected> {
  switch (address.kind) {
    case 'sqlite':
      return connectSqlite(address.path, options);
    case 'postgresql':
      return connectPostgres(address.url, options);
    case 'mysql':
      return connectMysql(address.url, options);
  }
}

async function connectSqlite(path: string, options: ConnectOptions): Promise<Connected> {
  const file = await openSqlite(path, options.driverOptions);
  const pragmas = [
    'foreign_keys = on',
    `synchronous = ${options.durability === 'strict' ? 'full' : 'normal'}`,
  ];
  const dialect = new SqliteDialect({
    database: file,
    async onCreateConnection(connection) {
      for (const pragma of pragmas) {
        await connection.executeQuery(CompiledQuery.raw(`pragma ${pragma}`));
      }
      if (path === IN_MEMORY) return;
      // Last, since it alone may find the file busy. A file that can only be read keeps its mode.
      try {
        await connection.executeQuery(CompiledQuery.raw('pragma journal_mode = wal'));
      } catch (error) {
        if (failureOf(ENGINES.sqlite, error) !== 'unreachable') throw error;
      }
    },
  });
  return {
    database: new Kysely({ dialect }),
    run: sqliteRunner(file, ENGINES.sqlite),
    lastWrites: new LastWrites(),
  };
}

async function connectPostgres(url: string, options: ConnectOptions): Promise<Connected> {
  const { default: pg } = await loadDriver<Pg>('postgresql');
  const pool = new pg.Pool({ connectionString: url, pipeline: true, ...options.driverOptions });
  // Unheard, these would end the program. A connection that breaks while nobody uses it is replaced by
  // the next one; where one breaks that is in use, its query fails and tells.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const engine = ENGINES.postgresql;
  // For the transaction alone: a pooler refuses settings of a connection, or gives them to somebody else.
  const relaxed = options.durability === 'relaxed' ? ['set local synchronous_commit = off'] : [];
  return {
    database: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    run: postgresRunner(pool, pg.Query, engine, [...engine.beginWrite, ...relaxed]),
  };
}

async function connectMysql(url: string, options: ConnectOptions): Promise<Connected> {
  const { default: mysql } = await loadDriver<Mysql>('mysql');
  const pool = mysql.createPool({ uri: url, charset: 'utf8mb4', ...options.driverOptions });
  return {
    database: new Kysely({ dialect: new MysqlDialect({ pool }) }),
    run: mysqlRunner(pool.promise(), ENGINES.mysql),
  };
}

/** A connection that verbs use by way of Kysely. */
export function throughKysely(database: Database, engine: Engine): Connected {
  return { database, run: kyselyRunner(database, engine) };
}
