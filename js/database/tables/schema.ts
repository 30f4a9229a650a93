/** Creates the missing tables, those of Python as google-adk would have made them. */
import { type ColumnDataType, type Compilable, type RawBuilder, sql } from 'kysely';
import type { EngineKind } from '../engines/engine.js';
import type { Layout } from './layout.js';
import { OURS, type TableNames } from './table_names.js';
import { type Database, floorText, METADATA, readMetadata, type Tables } from './tables.js';

/** The only schema version of `DatabaseSessionService` that is written. */
export const SCHEMA_VERSION = 1;

type Type = RawBuilder<unknown> | ColumnDataType;

interface Types {
  readonly id: Type;
  readonly invocationId: Type;
  readonly json: Type;
  readonly time: Type;
  readonly word: Type;
}

/**
 * Returns the types of the columns. On MySQL and MariaDB ids are compared by their bytes, trailing blanks
 * included. The default collation does not do that. The two engines have different names for the collation.
 */
function columnTypes(kind: EngineKind, { service }: Layout, collation: string): Types {
  if (service === 'SqliteSessionService') {
    return { id: 'text', invocationId: 'text', json: 'text', time: 'real', word: 'text' };
  }
  if (kind === 'postgresql') {
    return {
      id: 'varchar(128)',
      invocationId: 'varchar(256)',
      json: 'jsonb',
      time: sql`timestamp without time zone`,
      word: 'varchar(256)',
    };
  }
  if (kind === 'sqlite') {
    return {
      id: 'varchar(128)',
      invocationId: 'varchar(256)',
      json: 'text',
      time: 'datetime',
      word: 'varchar(256)',
    };
  }
  const exact = sql.raw(`character set utf8mb4 collate ${collation}`);
  return {
    id: sql`varchar(128) ${exact}`,
    invocationId: sql`varchar(256) ${exact}`,
    json: sql`longtext ${exact}`,
    time: sql`datetime(6)`,
    word: sql`varchar(256) ${exact}`,
  };
}

/** The collations that compare text by its bytes, trailing blanks included. */
export const MYSQL_COLLATIONS = { mysql: 'utf8mb4_0900_bin', mariadb: 'utf8mb4_nopad_bin' };

/** Returns the collation of {@link MYSQL_COLLATIONS} that the server has. */
export async function exactCollation(connection: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`select version() as version`.execute(connection);
  return MYSQL_COLLATIONS[/mariadb/i.test(rows[0]?.version ?? '') ? 'mariadb' : 'mysql'];
}

const SESSION_KEY = ['app_name', 'user_id', 'id'] as const;
const EVENT_SESSION = ['app_name', 'user_id', 'session_id'] as const;

/** The engine, layout and names of the tables to create. */
export interface Schema {
  readonly kind: EngineKind;
  readonly layout: Layout;
  readonly names: TableNames;
}

/**
 * Returns one statement per table, which creates it unless it exists.
 *
 * @param collation the collation of ids on MySQL and MariaDB
 */
export function tableStatements(
  database: Database,
  { kind, layout, names }: Schema,
  collation: string,
): Compilable[] {
  const { id, invocationId, json, time, word } = columnTypes(kind, layout, collation);
  const isSqliteService = layout.service === 'SqliteSessionService';
  const table = (name: keyof Tables) => database.schema.createTable(name).ifNotExists();
  const named = (name: string) => names.prefix + name;
  return [
    table(layout.metadata)
      .addColumn('key', id, (column) => column.notNull())
      .addColumn('value', word, (column) => column.notNull())
      .addPrimaryKeyConstraint(named(`${layout.metadata}_pkey`), ['key']),
    table('sessions')
      .addColumn('app_name', id, (column) => column.notNull())
      .addColumn('user_id', id, (column) => column.notNull())
      .addColumn('id', id, (column) => column.notNull())
      .addColumn('state', json, (column) => column.notNull())
      .addColumn('create_time', time, (column) => column.notNull())
      .addColumn('update_time', time, (column) => column.notNull())
      .addPrimaryKeyConstraint(named('sessions_pkey'), [...SESSION_KEY]),
    table('app_states')
      .addColumn('app_name', id, (column) => column.notNull())
      .addColumn('state', json, (column) => column.notNull())
      .addColumn('update_time', time, (column) => column.notNull())
      .addPrimaryKeyConstraint(named('app_states_pkey'), ['app_name']),
    table('user_states')
      .addColumn('app_name', id, (column) => column.notNull())
      .addColumn('user_id', id, (column) => column.notNull())
      .addColumn('state', json, (column) => column.notNull())
      .addColumn('update_time', time, (column) => column.notNull())
      .addPrimaryKeyConstraint(named('user_states_pkey'), ['app_name', 'user_id']),
    table('events')
      .addColumn('id', id, (column) => column.notNull())
      .addColumn('app_name', id, (column) => column.notNull())
      .addColumn('user_id', id, (column) => column.notNull())
      .addColumn('session_id', id, (column) => column.notNull())
      .addColumn('invocation_id', invocationId, (column) => column.notNull())
      .addColumn('timestamp', time, (column) => column.notNull())
      .addColumn('event_data', json, (column) => (isSqliteService ? column.notNull() : column))
      .addPrimaryKeyConstraint(
        named('events_pkey'),
        isSqliteService ? [...EVENT_SESSION, 'id'] : ['id', ...EVENT_SESSION],
      )
      .addForeignKeyConstraint(
        named('events_app_name_user_id_session_id_fkey'),
        [...EVENT_SESSION],
        'sessions',
        [...SESSION_KEY],
        (reference) => reference.onDelete('cascade'),
      ),
    table('adk_session_wasm_sessions')
      .addColumn('app_name', id, (column) => column.notNull())
      .addColumn('user_id', id, (column) => column.notNull())
      .addColumn('session_id', id, (column) => column.notNull())
      .addColumn('update_time', time, (column) => column.notNull())
      .addColumn('last_update_time', time, (column) => column.notNull())
      .addColumn('replaced_at', time)
      .addPrimaryKeyConstraint(named('adk_session_wasm_sessions_pkey'), [...EVENT_SESSION])
      .addForeignKeyConstraint(
        named('adk_session_wasm_sessions_fkey'),
        [...EVENT_SESSION],
        'sessions',
        [...SESSION_KEY],
        (reference) => reference.onDelete('cascade'),
      ),
  ];
}

/** Returns the initial rows of metadata, Python's and ours. */
export function metadataRows({
  service,
}: Layout): [key: (typeof METADATA)[keyof typeof METADATA], value: string][] {
  const floor: [typeof METADATA.floor, string] = [METADATA.floor, floorText(0)];
  return service === 'SqliteSessionService'
    ? [floor]
    : [[METADATA.version, String(SCHEMA_VERSION)], floor];
}

/**
 * Creates the missing tables with their rows of metadata. Also creates the missing indices of new tables, and
 * on SQLite all missing indices.
 *
 * @param existing the tables that exist
 * @param missing the indices that do not exist
 * @returns the indices that are left; building them here would make the writers to these tables wait
 */
export async function createTables(
  connection: Database,
  schema: Schema,
  existing: ReadonlySet<string>,
  missing: readonly Index[],
): Promise<Index[]> {
  const { kind, layout } = schema;
  const collation = kind === 'mysql' ? await exactCollation(connection) : '';
  for (const statement of tableStatements(connection, schema, collation)) {
    await connection.executeQuery(statement.compile());
  }
  // SQLite has only one writer at a time in any case.
  const isEmpty = ({ table }: Index) => kind === 'sqlite' || !existing.has(table);
  for (const index of missing.filter(isEmpty)) {
    await connection.executeQuery(indexStatement(connection, index).compile());
  }
  for (const [key, value] of metadataRows(layout)) {
    if ((await readMetadata(connection, layout.metadata, key)) !== undefined) continue;
    await connection.insertInto(layout.metadata).values({ key, value }).execute();
  }
  return missing.filter((index) => !isEmpty(index));
}

/** An index of a table. */
export interface Index {
  readonly name: string;
  readonly table: keyof Tables;
  readonly columns: readonly string[];
}

/**
 * Returns the indices of the tables. The first is Python's. Its `SqliteSessionService` lacks it, and we need
 * it for the time of the newest event. The others are ours, for lists by time. On SQLite one more serves the
 * events of a session in append order, since SQLite's indices end in the `rowid`.
 */
export function indices({ kind, names }: Schema): Index[] {
  const index = (name: string, table: keyof Tables, ...columns: string[]): Index => {
    return { name: names.prefix + name, table, columns };
  };
  const time = ['timestamp desc', 'id desc'];
  return [
    index('idx_events_app_user_session_ts_id', 'events', ...EVENT_SESSION, ...time),
    index('adk_session_wasm_by_update', 'sessions', 'app_name', 'update_time'),
    index('adk_session_wasm_by_last_update', OURS, 'app_name', 'last_update_time'),
    // One user's sessions. Through the indices above a page of them would visit all sessions of the app.
    index('adk_session_wasm_by_user', 'sessions', 'app_name', 'user_id', 'update_time'),
    index('adk_session_wasm_by_user_last', OURS, 'app_name', 'user_id', 'last_update_time'),
    ...(kind === 'sqlite' ? [index('adk_session_wasm_events', 'events', ...EVENT_SESSION)] : []),
  ];
}

function indexStatement(database: Database, { name, table, columns }: Index): Compilable {
  return database.schema
    .createIndex(name)
    .on(table)
    .expression(sql.raw(columns.join(', ')));
}
