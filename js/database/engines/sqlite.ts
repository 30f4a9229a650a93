import { sql, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Engine, StoredTime, TableColumn } from './engine.js';
import { failures } from './failure.js';

export const SQLITE: Engine = {
  kind: 'sqlite',
  name: 'SQLite',
  driver: 'better-sqlite3',
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  columnTypes: () => ({
    id: 'varchar(128)',
    invocationId: 'varchar(256)',
    json: 'text',
    time: 'datetime',
    word: 'varchar(256)',
  }),
  begin: { write: ['begin immediate'], read: ['begin'] },
  locksRows: false,
  eventOrder: [sql.ref('events.timestamp'), sql.ref('id')],
  // A tool may have stored the text as a blob.
  json: (column) => sql<string>`cast(${column} as text)`,
  time: (column) => sql<StoredTime>`${column}`,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when json_valid(${json}) and json_type(${json}, '$.timestamp') in ('integer', 'real')
      then json_extract(${json}, '$.timestamp') not between 0 and ${seconds} else 1 end`,
  failureOfCode: failures({
    conflict: 'SQLITE_BUSY SQLITE_LOCKED',
    duplicate: 'SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_UNIQUE',
    full: 'SQLITE_FULL SQLITE_IOERR_WRITE',
    lost: 'SQLITE_IOERR',
    readonly: 'SQLITE_READONLY',
    unreachable: 'SQLITE_CANTOPEN SQLITE_NOTADB SQLITE_PERM SQLITE_AUTH',
  }),
  limitsIds: false,
  refusesNul: false,
  enforcesKeys: false,
  hasOnConflict: true,
  hasJsonRows: false,
  ordersBeforeJson: false,
  withoutIndex: (column) => column,
  pagesByRange: false,
  locksSessionsAlone: false,
  catalog: {
    columns: (_schema, tables) => sql<TableColumn>`
      select m.name as "table", c.name as "name", c.type as "type", null as "collation"
      from sqlite_master m join pragma_table_info(m.name) c
      where m.type = 'table' and m.name in (${tables})`,
    indexNames: () =>
      sql<{ known: string }>`select name as known from sqlite_master where type = 'index'`,
  },
  buildIndex: ({ table, name, columns }) =>
    sql`create index if not exists ${name} on ${table} (${columns})`,
  indexAdvice: '',
  insertIfAbsent: (into) => sql`insert or ignore ${into}`,
  ofAdk: {
    time: (column) => sql`${column} / 1000.0`,
    eventOrder: [sql`events.timestamp`, sql`rowid`],
  },
  exactCollations: undefined,
  hasTextModes: false,
  creationLock: undefined,
  readOnlyOptions: { readonly: true },
  refusalCode: /^SQLITE_/,
};
