import {
  type Expression,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import {
  fullName,
  isId,
  isTime,
  type TableColumn,
  type Engine,
  type EngineTables,
  type IndexParts,
  type Product,
} from '../../engine/engine.js';
import { condition, LOCKED_ROWS } from '../../engine/common_sql.js';
import { failures, LOST, refused, textCode, UNREACHABLE, UNTRUSTED } from '../../engine/failure.js';
import { runOnce, type Steps } from '../../engine/prepared.js';
import { loadOptional } from '../../../../core/wasm/loader/optional_package.js';
import type { Connection, ConnectOptions } from '../../engine/connection.js';
import { loadDriver } from '../../engine/driver.js';
import { serverConnection } from '../../transactions/server_runner.js';
import { beginQueries } from '../../transactions/transaction.js';
import {
  type PgClientClass,
  type PgPool,
  type PgRowsClass,
  postgresPool,
} from './postgres_pool.js';
import { INDEX_FACTOR } from '../../engine/waits.js';

/** Converts a time column to text, since the driver would read it as local time in milliseconds. */
function timeText(column: Expression<unknown>): RawBuilder<string> {
  // `to_char` of infinity is null, which a list would take for no session.
  return sql<string>`coalesce(to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US'), cast(${column} as text))`;
}

const PRODUCT: Product = { collation: '', buildIndex: indexStatement, indexAdvice: '' };

export const POSTGRESQL: Engine = {
  kind: 'postgresql',
  name: 'PostgreSQL',
  driver: 'pg',
  isFile: false,
  connect: (url, options) => connectPostgres(POSTGRESQL, url, options),
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  ofAdk: {
    time: (column) => timeText(sql`(${column} at time zone 'UTC')`),
    // Orders events of one millisecond by their place in the table, which is the order of their appends.
    eventOrder: [sql`events.timestamp`, sql`ctid`],
  },
  readOnlyOptions: {},
  transactions: {
    ...LOCKED_ROWS,
    begin: {
      write: ['begin isolation level read committed'],
      read: ['begin isolation level repeatable read, read only'],
    },
    locksSessionsAlone: false,
    creationLock: undefined,
    noTransaction: undefined,
  },
  queries: {
    eventOrder: [sql.ref('events.timestamp'), sql.ref('id')],
    json: (column) => sql<string>`cast(${column} as text)`,
    time: timeText,
    mayBeSince: (json, seconds) =>
      sql<boolean>`case when jsonb_typeof(${json} -> 'timestamp') = 'number'
      then (${json} ->> 'timestamp')::numeric not between 0 and cast(${seconds} as numeric) else true end`,
    maxParameters: 65_535,
    maxRowBytes: undefined,
    packetBytes: undefined,
    placeIn: (column, text) => sql<number>`strpos(${column}, ${text})`,
    bytes: (bytes) => bytes,
    refusesNul: true,
    hasOnConflict: true,
    hasJsonRows: true,
    ordersBeforeJson: true,
    insertIfAbsent: (into) => sql`insert ${into} on conflict do nothing`,
  },
  indexes: {
    withoutIndex: (column) => sql`${column} || ''`,
    hasPartialIndices: true,
    pagesByRange: false,
    statistics: {
      isUnknown: (table) => sql`not exists (select from pg_stats as known
        join pg_namespace as space on space.nspname = known.schemaname
        join pg_class as class on class.relnamespace = space.oid and class.relname = known.tablename
        where class.oid = (select tableoid from ${table} limit 1))`,
      gather: (tables) => sql`analyze (skip_locked) ${tables}`,
    },
    buildOnline: buildConcurrently,
  },
  tables: {
    columnTypes: () => ({
      id: 'varchar(128)',
      invocationId: 'varchar(256)',
      json: 'jsonb',
      text: sql`text collate "C"`,
      time: sql`timestamp without time zone`,
      word: 'varchar(256)',
      bytes: 'bytea',
    }),
    // Compresses no row that fits into a page of 8 KB: a scan takes twice as long if it decompresses each one.
    longRows: sql`with (toast_tuple_target = 8160)`,
    limitsIds: true,
    enforcesKeys: true,
    catalog: {
      columns: (schema, tables) => sql<TableColumn>`
      select table_name as "table", column_name as "name", data_type as "type",
        collation_name as "collation"
      from information_schema.columns
      where table_schema = ${schema ?? sql`current_schema()`}
        and table_name in (${tables})`,
      indexNames: (schema) => sql<{ known: string }>`
      select relname as known from pg_index join pg_class on pg_class.oid = indexrelid
        join pg_namespace on pg_namespace.oid = relnamespace
      where indisvalid and nspname = ${schema ?? sql`current_schema()`}`,
    },
    productOf: () => PRODUCT,
    version: undefined,
    makerOf: ({ name, type }) =>
      isTime(name) && type.toLowerCase() === 'timestamp with time zone' ? '@google/adk' : undefined,
    checkColumns: (tables, columns) => requireDeterministic(POSTGRESQL, tables, columns),
    checkTexts: undefined,
  },
  errors: {
    codeOf: textCode,
    failureOfCode: failures({
      conflict: '40001 40P01 CR000 55P03',
      // 42710: of two connections that create a table at once, one finds the type of its rows.
      duplicate: '23505 42P07 42710',
      slow: '57014',
      full: '53100',
      tooLarge: '54000',
      // 40003: it is unknown whether the transaction was committed.
      lost: `08 40003 57P01 57P02 57P05 25P03 25P04 ${LOST}`,
      readonly: '25006',
      unsupported: '0A000 42601 42883',
      // A violation of the protocol, which a retry would repeat.
      other: '08P01',
      untrusted: UNTRUSTED,
      exhausted: '53300',
      unreachable: `28 3D000 3F000 42501 57P03 08001 08004 ${UNREACHABLE}`,
    }),
    refusalCode: /^(?!E)[0-9A-Z]{5}$/,
    // No resources, a failed disk, an internal error.
    crashCode: /^(?:53|58|XX)/,
    // The server does so, or a pooler before it.
    closesConnection(error) {
      const { severity } = Object(error) as { severity?: unknown };
      return /^(?:FATAL|PANIC)$/.test(String(severity));
    },
  },
};

/** PostgreSQL's types that compare all characters. `citext` ignores case, and `character` blanks at the end. */
const EXACT_TYPES = ['character varying', 'text'];

/**
 * Checks the types and the collations that columns name. The default collation of a database is always deterministic.
 */
function* requireDeterministic(
  engine: Engine,
  { database, names }: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const ids = columns.filter(isId);
  const alter = ({ table, name }: TableColumn, type: string) =>
    `ALTER TABLE ${fullName(names, table, '"')} ALTER COLUMN "${name}" TYPE ${type};`;
  const inexact = ids.filter(({ type }) => !EXACT_TYPES.includes(type));
  if (inexact.length > 0) {
    const statements = inexact.map((column) => alter(column, 'text'));
    throw refused(
      engine,
      `has ids of a type that does not compare all characters, so that ids which differ find each other's rows; run: ${statements.join(' ')}`,
    );
  }
  const named = ids.flatMap(({ collation }) => collation ?? []);
  if (named.length === 0) return;
  // Read through JSON, since older servers lack this column, and with it such collations.
  const rows = yield* runOnce(
    database,
    sql<{ name: string }>`
      select collname as name from pg_collation
      where collname in (${sql.join([...new Set(named)])})
        and to_jsonb(pg_collation) ->> 'collisdeterministic' = 'false'`,
  );
  const wrong = ids.filter(({ collation }) => rows.some(({ name }) => name === collation));
  if (wrong.length === 0) return;
  const statements = wrong.map((column) => alter(column, `${column.type} COLLATE "C"`));
  throw refused(
    engine,
    `compares ids by a collation that is not deterministic, so that ids which differ find each other's rows; run: ${statements.join(' ')}`,
  );
}

/** The part of `pg` that is used. */
interface Pg {
  default: { Pool: new (options: object) => PgPool; Client: PgClientClass; Query: PgRowsClass };
}

/** The part of `node:crypto` that is used. */
interface NodeCrypto {
  createHash(algorithm: 'sha256'): { update(text: string): { digest(encoding: 'hex'): string } };
}

async function connectPostgres(
  engine: Engine,
  url: string,
  options: ConnectOptions,
): Promise<Connection> {
  const { default: pg } = await loadDriver<Pg>(engine);
  const crypto = await loadOptional<NodeCrypto>('node:crypto');
  // PostgreSQL cuts names to 63 bytes.
  const hash =
    crypto &&
    ((text: string) => crypto.createHash('sha256').update(text).digest('hex').slice(0, 32));
  const { waits, driverOptions, onLost } = options;
  const pool = new pg.Pool({
    connectionString: url,
    pipeline: true,
    connectionTimeoutMillis: waits.timeoutMs,
    ...driverOptions,
  });
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
  const begin = beginQueries(engine, {
    write: begins(engine.transactions.begin.write, Object.keys(settings)),
    // A long read may take longer than the limit, as long as rows arrive.
    read: begins(engine.transactions.begin.read, ['idle_in_transaction_session_timeout']),
  });
  return serverConnection(postgresPool(pool, pg, hash, onLost), engine, waits, begin);
}

const SLOW = { factor: INDEX_FACTOR };

function indexStatement({ table, name, columns, where }: IndexParts): RawBuilder<unknown> {
  return sql`create index concurrently if not exists ${sql.ref(name)} on ${sql.table(table)} (${sql.raw(columns.join(', '))})${condition(where)}`;
}

/** Builds an index beside writers. An interrupted build has left an invalid index of the same name. */
function* buildConcurrently(tables: EngineTables, index: IndexParts): Steps<void> {
  const { database, names } = tables;
  if (yield* isBeingBuilt(tables, index)) return;
  const name = inSchema(names.schema, index.name);
  yield* runOnce(database, sql`drop index concurrently if exists ${name}`, SLOW);
  yield* runOnce(database, indexStatement(index), SLOW);
}

/**
 * Whether another connection is building an index of the table. Its index is invalid until the build ends,
 * and two builds at once deadlock. The lock may also be a vacuum's; the next opening then builds the index.
 */
function* isBeingBuilt(
  { database, names: { schema, prefix } }: EngineTables,
  { table }: IndexParts,
): Steps<boolean> {
  const rows = yield* runOnce(
    database,
    sql`
      select 1 from pg_locks join pg_class on pg_class.oid = relation
        join pg_namespace on pg_namespace.oid = relnamespace
      where relname = ${prefix + table} and nspname = ${schema ?? sql`current_schema()`}
        and mode = 'ShareUpdateExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.length > 0;
}

function inSchema(schema: string | undefined, name: string): RawBuilder<unknown> {
  return schema === undefined ? sql.ref(name) : sql.id(schema, name);
}
