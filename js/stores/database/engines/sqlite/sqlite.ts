import { sql, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { condition } from '../../engine/common_sql.js';
import {
  isText,
  isTime,
  type TableColumn,
  type Engine,
  type Product,
  type StoredTime,
  isId,
  type EngineTables,
} from '../../engine/engine.js';
import { failures, textCode, refused } from '../../engine/failure.js';
import { runOnce, type Steps } from '../../engine/prepared.js';
import { connectSqlite } from './connect.js';

/** The names of SQLite's own error numbers, for a driver that reports only the number. */
const NAMES: Readonly<Record<number, string>> = {
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
};

const PRODUCT: Product = {
  collation: '',
  buildIndex: ({ table, name, columns, where }) =>
    sql`create index if not exists ${sql.ref(name)} on ${sql.table(table)} (${sql.raw(columns.join(', '))})${condition(where)}`,
  indexAdvice: '',
};

export const SQLITE: Engine = {
  kind: 'sqlite',
  name: 'SQLite',
  driver: 'better-sqlite3',
  isFile: true,
  connect: (path, options) => connectSqlite(SQLITE, path, options),
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  ofAdk: {
    time: (column) => sql`${column} / 1000.0`,
    eventOrder: [sql`events.timestamp`, sql`rowid`],
  },
  readOnlyOptions: { readonly: true },
  transactions: {
    begin: { write: ['begin immediate'], read: ['begin'] },
    locksRows: false,
    locksByInsert: false,
    lock: (query) => query,
    locksSessionsAlone: false,
    creationLock: undefined,
    noTransaction: /no transaction is active/i,
  },
  queries: {
    eventOrder: [sql.ref('events.timestamp'), sql.ref('id')],
    // A tool may have stored the text as a blob.
    json: (column) => sql<string>`cast(${column} as text)`,
    time: (column) => sql<StoredTime>`${column}`,
    mayBeSince: (json, seconds) =>
      sql<boolean>`case when json_valid(${json}) and json_type(${json}, '$.timestamp') in ('integer', 'real')
      then json_extract(${json}, '$.timestamp') not between 0 and ${seconds} else 1 end`,
    maxParameters: 32_766,
    maxRowBytes: undefined,
    packetBytes: undefined,
    placeIn: (column, text) => sql<number>`instr(${column}, ${text})`,
    bytes: (bytes) => bytes,
    refusesNul: false,
    hasOnConflict: true,
    hasJsonRows: false,
    ordersBeforeJson: false,
    insertIfAbsent: (into) => sql`insert or ignore ${into}`,
  },
  indexes: {
    withoutIndex: (column) => column,
    hasPartialIndices: true,
    pagesByRange: false,
    buildOnline: undefined,
  },
  tables: {
    columnTypes: () => ({
      id: 'varchar(128)',
      invocationId: 'varchar(256)',
      json: 'text',
      text: 'text',
      time: 'datetime',
      word: 'varchar(256)',
      bytes: 'blob',
    }),
    limitsIds: false,
    enforcesKeys: false,
    catalog: {
      columns: (_schema, tables) => sql<TableColumn>`
      select m.name as "table", c.name as "name", c.type as "type", null as "collation"
      from sqlite_master m join pragma_table_info(m.name) c
      where m.type = 'table' and m.name in (${tables})`,
      indexNames: () =>
        sql<{ known: string }>`select name as known from sqlite_master where type = 'index'`,
    },
    productOf: () => PRODUCT,
    version: undefined,
    makerOf({ name, type: written }) {
      const type = written.toLowerCase();
      if (isText(name) && type === 'json') return '@google/adk';
      if (!isTime(name)) return undefined;
      return type === 'real' ? 'SqliteSessionService' : 'DatabaseSessionService';
    },
    checkColumns: (tables, columns) => requireNoCollation(SQLITE, tables, columns),
    checkTexts: undefined,
  },
  errors: {
    codeOf(error) {
      const { errcode, extendedCode } = Object(error) as {
        /** Of `node:sqlite`. */
        errcode?: unknown;
        /** Of `@libsql/client`, whose `code` does not tell constraints apart. */
        extendedCode?: unknown;
      };
      if (typeof extendedCode === 'string') return extendedCode;
      if (typeof errcode !== 'number') return textCode(error);
      return NAMES[errcode] ?? NAMES[errcode & 0xff] ?? `SQLITE_${errcode}`;
    },
    failureOfCode: failures({
      // `@libsql/client` refuses a transaction while others hold all its connections: in memory it has one.
      conflict: 'SQLITE_BUSY SQLITE_LOCKED TRANSACTION_ACTIVE',
      duplicate: 'SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_UNIQUE',
      full: 'SQLITE_FULL SQLITE_IOERR_WRITE',
      tooLarge: 'SQLITE_TOOBIG',
      lost: 'SQLITE_IOERR',
      readonly: 'SQLITE_READONLY',
      unreachable: 'SQLITE_CANTOPEN SQLITE_NOTADB SQLITE_PERM SQLITE_AUTH',
    }),
    refusalCode: /^SQLITE_/,
    crashCode: undefined,
    closesConnection: () => false,
  },
};

/** Whether SQLite keeps texts in a column of this type as they are. In any other, `007` could become `7`. */
const keepsText = (type: string) => /char|clob|text/i.test(type) && !/int/i.test(type);

/** Reads the collations from the statements that created the tables: SQLite keeps them nowhere else. */
function* requireNoCollation(
  engine: Engine,
  { database, names }: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const ids = columns.filter(isId);
  const other = ids.find(({ type }) => !keepsText(type));
  if (other !== undefined) {
    throw refused(
      engine,
      `has the column ${other.name} of ${names.prefix}${other.table} with the type "${other.type}", which changes ids such as 007; copy the table into one with the type TEXT`,
    );
  }
  const tables = [...new Set(ids.map(({ table }) => names.prefix + table))];
  if (tables.length === 0) return;
  const rows = yield* runOnce(
    database,
    sql<{ name: string; text: string }>`
      select name, sql as text from sqlite_master
      where type = 'table' and name in (${sql.join(tables)})`,
  );
  for (const { name, text } of rows) {
    const statement = text.replaceAll(/--.*|\/\*[^]*?\*\/|'(?:[^']|'')*'/g, ' ');
    const collation = /\bcollate\s+["`[]?(?!binary\b)(\w+)/i.exec(statement)?.[1];
    if (collation === undefined) continue;
    throw refused(
      engine,
      `compares columns of ${name} by the collation ${collation}, so that ids which differ find each other's rows; copy the table into one without COLLATE`,
    );
  }
}
