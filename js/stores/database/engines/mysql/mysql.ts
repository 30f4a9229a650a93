/** The engines MySQL and MariaDB. */
import {
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  type RawBuilder,
  sql,
  type QueryExecutorProvider,
} from 'kysely';
import { LOCKED_ROWS, readProduct } from '../../engine/common_sql.js';
import type { Connection, ConnectOptions } from '../../engine/connection.js';
import { loadDriver } from '../../engine/driver.js';
import {
  type TableColumn,
  type Engine,
  type EngineTables,
  type IndexParts,
  type Product,
  fullName,
  isId,
  isText,
  isTime,
} from '../../engine/engine.js';
import {
  driverReason,
  failures,
  LOST,
  OwnFailure,
  textCode,
  UNREACHABLE,
  UNTRUSTED,
  refused,
} from '../../engine/failure.js';
import { runOnce, type Steps } from '../../engine/prepared.js';
import { INDEX_FACTOR } from '../../engine/waits.js';
import { serverConnection } from '../../transactions/server_runner.js';
import { mysqlPool, TOO_LARGE, type MysqlPromisePool } from './mysql_pool.js';

// The collations compare text by its bytes, trailing blanks included. The default collation does not.
const PRODUCTS: Readonly<Record<'mysql' | 'mariadb', Product>> = {
  mysql: {
    collation: 'utf8mb4_0900_bin',
    buildIndex: (index) => indexStatement(index, ''),
    indexAdvice: '-- An index that exists already fails with error 1061: go on (mysql --force).\n',
  },
  mariadb: {
    collation: 'utf8mb4_nopad_bin',
    buildIndex: (index) => indexStatement(index, 'if not exists '),
    indexAdvice: '',
  },
};

export const MYSQL: Engine = {
  kind: 'mysql',
  name: 'MariaDB',
  driver: 'mysql2',
  isFile: false,
  connect: (url, options) => connectMysql(MYSQL, url, options),
  dialect: {
    createAdapter: () => new MysqlAdapter(),
    createIntrospector: (database) => new MysqlIntrospector(database),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  },
  ofAdk: {
    // A column of the type JSON would be parsed by the driver.
    json: (column) => sql`concat(${column}, '')`,
    eventOrder: [sql`cast(json_value(event_data, '$.timestamp') as decimal(20, 3))`, sql`id`],
  },
  readOnlyOptions: {},
  transactions: {
    ...LOCKED_ROWS,
    begin: {
      write: ['set transaction isolation level read committed', 'start transaction'],
      read: [
        'set transaction isolation level repeatable read',
        'start transaction with consistent snapshot, read only',
      ],
    },
    locksSessionsAlone: true,
    creationLock: {
      acquire: sql`select get_lock('adk_session_wasm', 1) as locked`,
      release: sql`select release_lock('adk_session_wasm')`,
    },
    noTransaction: undefined,
  },
  queries: {
    eventOrder: [sql.ref('events.timestamp'), sql.ref('id')],
    json: (column) => sql<string>`${column}`,
    time: (column) => sql<string>`cast(${column} as char)`,
    mayBeSince: (json, seconds) =>
      sql<boolean>`case when json_valid(${json}) and json_type(json_extract(${json}, '$.timestamp')) in ('INTEGER', 'DOUBLE', 'DECIMAL')
      then json_extract(${json}, '$.timestamp') + 0 not between 0 and ${seconds} else true end`,
    maxParameters: 65_535,
    maxRowBytes: undefined,
    packetBytes: sql`select @@max_allowed_packet as bytes`,
    // By bytes: by characters, even with a binary collation, it takes four times as long.
    placeIn: (column, text) => sql<number>`instr(${column}, cast(${text} as binary))`,
    // mysql2 would send any other object as JSON.
    bytes: ({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length),
    refusesNul: false,
    // Its `insert ignore` would ignore other errors too.
    hasOnConflict: false,
    hasJsonRows: false,
    ordersBeforeJson: false,
    insertIfAbsent: (into) => sql`insert ignore ${into}`,
  },
  indexes: {
    withoutIndex: (column) => column,
    hasPartialIndices: false,
    pagesByRange: true,
    buildOnline: buildInPlace,
  },
  tables: {
    columnTypes(collation) {
      const exact = sql.raw(`character set utf8mb4 collate ${collation}`);
      return {
        id: sql`varchar(128) ${exact}`,
        invocationId: sql`varchar(256) ${exact}`,
        json: sql`longtext ${exact}`,
        text: sql`longtext ${exact}`,
        time: sql`datetime(6)`,
        word: sql`varchar(256) ${exact}`,
        bytes: sql`longblob`,
      };
    },
    limitsIds: true,
    enforcesKeys: true,
    catalog: {
      columns: (schema, tables) => sql<TableColumn>`
      select table_name as \`table\`, column_name as \`name\`, column_type as \`type\`,
        collation_name as \`collation\`
      from information_schema.columns
      where table_schema = ${schema ?? sql`database()`}
        and table_name in (${tables})`,
      indexNames: (schema) => sql<{ known: string }>`
      select index_name as known from information_schema.statistics
      where table_schema = ${schema ?? sql`database()`}`,
    },
    productOf: (schemeOrVersion) =>
      PRODUCTS[/mariadb/i.test(schemeOrVersion) ? 'mariadb' : 'mysql'],
    version: sql<{ version: string }>`select version() as version`,
    makerOf: ({ name, type }) =>
      name === 'app_name' && type.toLowerCase() === 'varchar(191)' ? '@google/adk' : undefined,
    checkColumns(tables, columns, use) {
      switch (use) {
        case 'read':
          return requireExactIds(MYSQL, tables, columns);
        case 'readOfAdk':
          return requireDistinctIds(MYSQL, tables, columns);
        case 'write':
          return requireExactColumns(MYSQL, tables, columns);
      }
    },
    checkTexts: (database) => requireExactTexts(MYSQL, database),
  },
  errors: {
    codeOf: textCode,
    failureOfCode: failures({
      conflict: 'ER_LOCK_DEADLOCK ER_LOCK_WAIT_TIMEOUT ER_CHECKREAD ER_TABLE_DEF_CHANGED',
      duplicate: 'ER_DUP_ENTRY ER_DUP_KEYNAME ER_TABLE_EXISTS_ERROR',
      slow: 'ER_STATEMENT_TIMEOUT ER_QUERY_TIMEOUT ER_QUERY_INTERRUPTED',
      full: 'ER_DISK_FULL ER_RECORD_FILE_FULL ER_ENGINE_OUT_OF_MEMORY',
      tooLarge: TOO_LARGE,
      lost: `PROTOCOL_ ER_ERROR_DURING_COMMIT ER_SERVER_SHUTDOWN ER_CONNECTION_KILLED ER_NEW_ABORTING ${LOST}`,
      readonly:
        'ER_OPTION_PREVENTS_STATEMENT ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION ER_READ_ONLY_MODE',
      unsupported: 'ER_PARSE_ERROR ER_NOT_SUPPORTED_YET',
      untrusted: `HANDSHAKE_SSL_ERROR ${UNTRUSTED}`,
      noTls: 'HANDSHAKE_NO_SSL_SUPPORT',
      exhausted: 'ER_CON_COUNT',
      unreachable: `ER_ACCESS_DENIED ER_DBACCESS_DENIED ER_TABLEACCESS_DENIED ER_BAD_DB ER_NOT_SUPPORTED_AUTH ER_HOST ${UNREACHABLE}`,
    }),
    refusalCode: /^ER_/,
    crashCode: undefined,
    closesConnection: () => false,
  },
};

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

async function connectMysql(
  engine: Engine,
  url: string,
  options: ConnectOptions,
): Promise<Connection> {
  const { default: mysql } = await loadDriver<Mysql>(engine);
  const { waits, driverOptions, onLost } = options;
  const createPool = (options: object = {}): MysqlPool =>
    mysql.createPool({
      uri: url,
      charset: 'utf8mb4',
      connectTimeout: Math.ceil(waits.timeoutMs),
      ...driverOptions,
      ...options,
    });
  const pool = firstPool(createPool);
  const seconds = Math.ceil(waits.timeoutMs / 1000);
  // MySQL lacks the last setting and reads it as a comment. See `requireExactTexts` for the SQL mode.
  const settings = `set session sql_mode = replace(@@sql_mode, '${NO_ESCAPES}', ''), innodb_lock_wait_timeout = ${seconds} /*M!100300 , idle_transaction_timeout = ${seconds} */`;
  pool.on('connection', (connection) => connection.query(settings, () => undefined));
  const runs = mysqlPool(pool.promise(), (options) => createPool(options).promise(), onLost);
  return serverConnection(runs, engine, waits);
}

/** Makes the pool. The driver checks parameters of the URL, such as a TLS profile, before it connects. */
function firstPool(createPool: () => MysqlPool): MysqlPool {
  try {
    return createPool();
  } catch (error) {
    throw new OwnFailure(driverReason(error), 'unreachable', error);
  }
}

const SLOW = { factor: INDEX_FACTOR };

/** @param condition `if not exists `, which only MariaDB knows here, or nothing */
function indexStatement(
  { table, name, columns }: IndexParts,
  condition: string,
): RawBuilder<unknown> {
  return sql`alter table ${sql.table(table)} add index ${sql.raw(condition)}${sql.ref(name)} (${sql.raw(columns.join(', '))}), algorithm=inplace, lock=none`;
}

/**
 * Builds an index beside writers. The statement waits for transactions that use the table, and writers wait behind
 * it. The limit of one second bounds that.
 */
function* buildInPlace({ database }: EngineTables, index: IndexParts): Steps<void> {
  const undo = sql`set session lock_wait_timeout = default`;
  yield* runOnce(database, sql`set session lock_wait_timeout = 1`, { undo });
  yield* runOnce(database, indexStatement(index, ''), SLOW);
}

/** Requires the collation of the product for ids: no other compares exactly. */
function* requireExactIds(
  engine: Engine,
  tables: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const { collation: exact } = yield* readProduct(engine, tables.database);
  if (columns.filter(isId).every(({ collation }) => collation === exact)) return;
  // Fails, with the statements that correct all columns.
  yield* requireExactColumns(engine, tables, columns);
}

/**
 * Requires columns that lose nothing, on MariaDB. In tables that Python made there, times may be
 * kept to the second and long texts cut off. `Alice` may also find `alice`'s session.
 */
function* requireExactColumns(
  engine: Engine,
  tables: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const { database, names } = tables;
  const { collation: exact } = yield* readProduct(engine, database);
  const wrong = columns.filter(({ name, type, collation }) => {
    if (isTime(name)) return type !== 'datetime(6)';
    if (isText(name)) return type !== 'longtext';
    return collation !== null && collation !== exact;
  });
  if (wrong.length === 0) return;
  const statements = wrong.map(({ table, name, type }) => {
    const column = `ALTER TABLE ${fullName(names, table, '`')} MODIFY \`${name}\``;
    if (isTime(name)) return `${column} DATETIME(6) NOT NULL`;
    const text = isText(name) ? 'LONGTEXT' : type.toUpperCase();
    const isNullable = name === 'event_data';
    return `${column} ${text} CHARACTER SET utf8mb4 COLLATE ${exact}${isNullable ? '' : ' NOT NULL'}`;
  });
  // A column of a foreign key cannot be changed.
  const keys = yield* foreignKeys(tables);
  const [events, sessions] = [fullName(names, 'events', '`'), fullName(names, 'sessions', '`')];
  const all = [
    ...keys.map((name) => `ALTER TABLE ${events} DROP FOREIGN KEY \`${name}\``),
    ...statements,
    `ALTER TABLE ${events} ADD FOREIGN KEY (app_name, user_id, session_id) REFERENCES ${sessions} (app_name, user_id, id) ON DELETE CASCADE`,
  ];
  throw refused(engine, `has columns that would lose data; run: ${all.join('; ')};`);
}

/**
 * Requires that no two stored ids are equal under the columns' collation. `@google/adk` itself makes tables on MariaDB
 * whose columns compare ids without case. Such tables are only read, and only if the case of no two ids alone differs.
 */
function* requireDistinctIds(
  engine: Engine,
  { database, names }: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  for (const name of ['app_name', 'user_id']) {
    const all = columns
      .filter((column) => column.name === name && column.table !== 'events')
      .map(
        ({ table }) => sql`select ${sql.ref(name)} as id from ${sql.table(names.prefix + table)}`,
      );
    const rows = yield* runOnce(
      database,
      sql<{ exact: unknown; alike: unknown }>`
        select count(distinct binary id) as exact, count(distinct id) as alike
        from (${sql.join(all, sql` union all `)}) as ids`,
    );
    if (rows.every(({ exact, alike }) => Number(exact) === Number(alike))) continue;
    throw refused(
      engine,
      `has values of ${name} that differ only in ways that its columns do not compare, such as case, so that they find each other's rows; rename them, or give the columns a binary collation`,
    );
  }
}

function* foreignKeys({ database, names: { schema, prefix } }: EngineTables): Steps<string[]> {
  const rows = yield* runOnce(
    database,
    sql<{ name: string }>`
      select constraint_name as name from information_schema.table_constraints
      where table_schema = ${schema ?? sql`database()`}
        and table_name = ${`${prefix}events`}
        and constraint_type = 'FOREIGN KEY'`,
  );
  return rows.map(({ name }) => name);
}

/** The SQL mode of MariaDB in which a backslash is no escape. */
const NO_ESCAPES = 'NO_BACKSLASH_ESCAPES';

/**
 * Requires that texts arrive as they are written.
 *
 * - A backslash must escape a quote. `mysql2` writes values into the SQL of statements that are not prepared, and
 *   escapes their quotes so. Without that an id could hold SQL.
 * - The connection's character set must hold all characters. It replaces each other one by a question mark.
 */
function* requireExactTexts(engine: Engine, database: QueryExecutorProvider): Steps<void> {
  const [row] = yield* runOnce(
    database,
    sql<{ mode: string; charset: string }>`
      select @@sql_mode as mode, @@character_set_client as charset`,
  );
  if (row !== undefined && row.charset !== 'utf8mb4') {
    throw refused(
      engine,
      `is connected with the character set ${row.charset}, which lacks characters; leave out charset, or set it to utf8mb4`,
    );
  }
  if (row?.mode.includes(NO_ESCAPES) !== true) return;
  const how = 'in which an id could hold SQL; set another sql_mode on its connections';
  throw refused(engine, `has the SQL mode ${NO_ESCAPES}, ${how}`);
}
