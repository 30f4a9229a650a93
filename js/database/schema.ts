/** Makes what is missing of the tables, Python's each as google-adk would have made it. */
import { type ColumnDataType, sql, type RawBuilder } from 'kysely';
import type { EngineKind } from './engine.js';
import type { Layout } from './layout.js';
import { type Database, floorText, METADATA, readMetadata } from './tables.js';

/** The one schema version of `DatabaseSessionService` that is written. */
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
 * The types of the columns. On MySQL and MariaDB ids are compared by their bytes, trailing blanks
 * included, which the default collation does not do; each of the two has its own name for that.
 */
async function columnTypes(
  connection: Database,
  kind: EngineKind,
  { service }: Layout,
): Promise<Types> {
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
  const exact = sql.raw(`character set utf8mb4 collate ${await exactCollation(connection)}`);
  return {
    id: sql`varchar(128) ${exact}`,
    invocationId: sql`varchar(256) ${exact}`,
    json: sql`longtext ${exact}`,
    time: sql`datetime(6)`,
    word: sql`varchar(256) ${exact}`,
  };
}

/** What compares text of MySQL or MariaDB by its bytes. */
export async function exactCollation(connection: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`select version() as version`.execute(connection);
  return /mariadb/i.test(rows[0]?.version ?? '') ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}

const SESSION_KEY = ['app_name', 'user_id', 'id'] as const;
const EVENT_SESSION = ['app_name', 'user_id', 'session_id'] as const;

/** The tables that are not there yet, with Python's and our rows of metadata, and all indices. */
export async function createTables(
  connection: Database,
  kind: EngineKind,
  layout: Layout,
): Promise<void> {
  const { id, invocationId, json, time, word } = await columnTypes(connection, kind, layout);
  const isSqliteService = layout.service === 'SqliteSessionService';
  const table = (name: string) => connection.schema.createTable(name).ifNotExists();
  await table(layout.metadata)
    .addColumn('key', id, (column) => column.notNull())
    .addColumn('value', word, (column) => column.notNull())
    .addPrimaryKeyConstraint(`${layout.metadata}_pkey`, ['key'])
    .execute();
  await table('sessions')
    .addColumn('app_name', id, (column) => column.notNull())
    .addColumn('user_id', id, (column) => column.notNull())
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('state', json, (column) => column.notNull())
    .addColumn('create_time', time, (column) => column.notNull())
    .addColumn('update_time', time, (column) => column.notNull())
    .addPrimaryKeyConstraint('sessions_pkey', [...SESSION_KEY])
    .execute();
  await table('app_states')
    .addColumn('app_name', id, (column) => column.notNull())
    .addColumn('state', json, (column) => column.notNull())
    .addColumn('update_time', time, (column) => column.notNull())
    .addPrimaryKeyConstraint('app_states_pkey', ['app_name'])
    .execute();
  await table('user_states')
    .addColumn('app_name', id, (column) => column.notNull())
    .addColumn('user_id', id, (column) => column.notNull())
    .addColumn('state', json, (column) => column.notNull())
    .addColumn('update_time', time, (column) => column.notNull())
    .addPrimaryKeyConstraint('user_states_pkey', ['app_name', 'user_id'])
    .execute();
  await table('events')
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('app_name', id, (column) => column.notNull())
    .addColumn('user_id', id, (column) => column.notNull())
    .addColumn('session_id', id, (column) => column.notNull())
    .addColumn('invocation_id', invocationId, (column) => column.notNull())
    .addColumn('timestamp', time, (column) => column.notNull())
    .addColumn('event_data', json, (column) => (isSqliteService ? column.notNull() : column))
    .addPrimaryKeyConstraint(
      'events_pkey',
      isSqliteService ? [...EVENT_SESSION, 'id'] : ['id', ...EVENT_SESSION],
    )
    .addForeignKeyConstraint(
      'events_app_name_user_id_session_id_fkey',
      [...EVENT_SESSION],
      'sessions',
      [...SESSION_KEY],
      (reference) => reference.onDelete('cascade'),
    )
    .execute();
  await table('adk_session_wasm_sessions')
    .addColumn('app_name', id, (column) => column.notNull())
    .addColumn('user_id', id, (column) => column.notNull())
    .addColumn('session_id', id, (column) => column.notNull())
    .addColumn('update_time', time, (column) => column.notNull())
    .addColumn('last_update_time', time, (column) => column.notNull())
    .addColumn('replaced_at', time)
    .addPrimaryKeyConstraint('adk_session_wasm_sessions_pkey', [...EVENT_SESSION])
    .addForeignKeyConstraint(
      'adk_session_wasm_sessions_fkey',
      [...EVENT_SESSION],
      'sessions',
      [...SESSION_KEY],
      (reference) => reference.onDelete('cascade'),
    )
    .execute();
  await createIndices(connection, kind);
  const rows = [
    ...(isSqliteService ? [] : [[METADATA.version, String(SCHEMA_VERSION)] as const]),
    [METADATA.floor, floorText(0)] as const,
  ];
  for (const [key, value] of rows) {
    if ((await readMetadata(connection, layout.metadata, key)) !== undefined) continue;
    await connection.insertInto(layout.metadata).values({ key, value }).execute();
  }
}

/**
 * Python's index, which its `SqliteSessionService` lacks and we need for the time of the newest event;
 * and ours: for lists by time; and on SQLite, whose indices end in the `rowid`, for
 * the events of a session in the order in which they were appended.
 */
async function createIndices(connection: Database, kind: EngineKind): Promise<void> {
  const known = await indexNames(connection, kind);
  const index = async (name: string, table: string, columns: readonly string[]) => {
    if (known.has(name)) return;
    await connection.schema
      .createIndex(name)
      .on(table)
      .expression(sql.raw(columns.join(', ')))
      .execute();
  };
  await index('idx_events_app_user_session_ts_id', 'events', [
    ...EVENT_SESSION,
    'timestamp desc',
    'id desc',
  ]);
  const ours = 'adk_session_wasm_sessions';
  await index('adk_session_wasm_by_update', 'sessions', ['app_name', 'update_time']);
  await index('adk_session_wasm_by_last_update', ours, ['app_name', 'last_update_time']);
  // One user's sessions: by the indices above, a page of theirs would visit all sessions of the app.
  const ofUser = ['app_name', 'user_id'];
  await index('adk_session_wasm_by_user', 'sessions', [...ofUser, 'update_time']);
  await index('adk_session_wasm_by_user_last', ours, [...ofUser, 'last_update_time']);
  if (kind === 'sqlite') await index('adk_session_wasm_events', 'events', EVENT_SESSION);
}

async function indexNames(connection: Database, kind: EngineKind): Promise<Set<string>> {
  const from = {
    sqlite: sql`sqlite_master where type = 'index'`,
    postgresql: sql`pg_indexes where schemaname = current_schema()`,
    mysql: sql`information_schema.statistics where table_schema = database()`,
  }[kind];
  const column = { sqlite: 'name', postgresql: 'indexname', mysql: 'index_name' }[kind];
  const query = sql<{ known: string }>`select ${sql.ref(column)} as known from ${from}`;
  return new Set((await query.execute(connection)).rows.map(({ known }) => known));
}
