import {
  type Expression,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import { isTime, type TableColumn } from '../../engine/columns.js';
import { COMMON_SQL, LOCKED_ROWS } from '../../engine/common_sql.js';
import type { Engine, Product } from '../../engine/engine.js';
import { failures, LOST, textCode, UNREACHABLE, UNTRUSTED } from '../../engine/failure.js';
import { requireDeterministic } from './columns.js';
import { connectPostgres } from './connect.js';
import { buildConcurrently, indexStatement } from './online_index.js';

/** Converts a time column to text, since the driver would read it as local time in milliseconds. */
function timeText(column: Expression<unknown>): RawBuilder<string> {
  // `to_char` of infinity is null, which a list would take for no session.
  return sql<string>`coalesce(to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US'), cast(${column} as text))`;
}

const PRODUCT: Product = { collation: '', buildIndex: indexStatement, indexAdvice: '' };

export const POSTGRESQL: Engine = {
  ...COMMON_SQL,
  ...LOCKED_ROWS,
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
  columnTypes: () => ({
    id: 'varchar(128)',
    invocationId: 'varchar(256)',
    json: 'jsonb',
    time: sql`timestamp without time zone`,
    word: 'varchar(256)',
  }),
  begin: {
    write: ['begin isolation level read committed'],
    read: ['begin isolation level repeatable read, read only'],
  },
  eventOrder: [sql.ref('events.timestamp'), sql.ref('id')],
  json: (column) => sql<string>`cast(${column} as text)`,
  time: timeText,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when jsonb_typeof(${json} -> 'timestamp') = 'number'
      then (${json} ->> 'timestamp')::numeric not between 0 and cast(${seconds} as numeric) else true end`,
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
  limitsIds: true,
  refusesNul: true,
  enforcesKeys: true,
  hasOnConflict: true,
  hasJsonRows: true,
  ordersBeforeJson: true,
  withoutIndex: (column) => sql`${column} || ''`,
  hasPartialIndices: true,
  pagesByRange: false,
  locksSessionsAlone: false,
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
  buildOnline: buildConcurrently,
  insertIfAbsent: (into) => sql`insert ${into} on conflict do nothing`,
  ofAdk: {
    time: (column) => timeText(sql`(${column} at time zone 'UTC')`),
    // Orders events of one millisecond by their place in the table, which is the order of their appends.
    eventOrder: [sql`events.timestamp`, sql`ctid`],
  },
  makerOf: ({ name, type }) =>
    isTime(name) && type.toLowerCase() === 'timestamp with time zone' ? '@google/adk' : undefined,
  checkColumns: (tables, columns) => requireDeterministic(POSTGRESQL, tables, columns),
  checkTexts: undefined,
  creationLock: undefined,
  readOnlyOptions: {},
  refusalCode: /^(?!E)[0-9A-Z]{5}$/,
  // No resources, a failed disk, an internal error.
  crashCode: /^(?:53|58|XX)/,
  noTransaction: undefined,
  // The server does so, or a pooler before it.
  closesConnection(error) {
    const { severity } = Object(error) as { severity?: unknown };
    return /^(?:FATAL|PANIC)$/.test(String(severity));
  },
};
