/** What is looked at once, before the first verb: whose tables these are, and whether they will do. */
import { sql } from 'kysely';
import { SessionError, type SessionErrorCode } from '../errors.js';
import type { Engine, EngineKind } from './engine.js';
import { createTables, exactCollation, SCHEMA_VERSION } from './schema.js';
import { type Database, METADATA, readMetadata } from './tables.js';
import { inTransaction } from './transaction.js';

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** MySQL and MariaDB only. */
  readonly collation: string | null;
}

const OURS = 'adk_session_wasm_sessions';

const TABLES = ['adk_internal_metadata', 'sessions', 'app_states', 'user_states', 'events', OURS];

/**
 * Checks the tables that are there and makes those that are not.
 *
 * @throws SessionError `storage_unavailable`: tables of another layout, with how to migrate them or the
 *   statements that correct them; `storage_newer`: a later schema version
 */
export async function openTables(database: Database, engine: Engine): Promise<void> {
  const isWhole = await inTransaction(database, engine, 'read', (connection) =>
    check(connection, engine, false),
  );
  if (isWhole) return;
  // Once more under the lock, since others may be opening it as well.
  await inTransaction(database, engine, 'write', (connection) =>
    alone(connection, engine, async () => {
      if (await check(connection, engine, true)) return;
      await createTables(connection, engine.kind);
    }),
  );
}

/**
 * What MySQL does to its tables is in no transaction, so that others would see them half made; on the
 * other engines the transaction keeps them away.
 */
async function alone(
  connection: Database,
  { kind }: Engine,
  work: () => Promise<void>,
): Promise<void> {
  if (kind !== 'mysql') return work();
  const name = 'adk_session_wasm';
  await sql`select get_lock(${name}, 60)`.execute(connection);
  try {
    await work();
  } finally {
    await sql`select release_lock(${name})`.execute(connection);
  }
}

/**
 * Whether nothing is missing.
 *
 * @param isAlone whether nobody can be making the tables at this moment
 */
async function check(connection: Database, { kind }: Engine, isAlone: boolean): Promise<boolean> {
  const columns = await readColumns(connection, kind);
  const tables = new Set(columns.map(({ table }) => table));
  if (tables.has('adk_internal_metadata')) {
    const version = await readMetadata(connection, METADATA.version);
    if (version === undefined && !isAlone) return false;
    requireVersion(version, kind);
  }
  if (tables.has('events')) checkLayout(columns, kind);
  if (kind === 'mysql') await checkExactness(connection, columns);
  if (!TABLES.every((table) => tables.has(table))) return false;
  return (await readMetadata(connection, METADATA.floor)) !== undefined;
}

function requireVersion(value: string | undefined, kind: EngineKind): void {
  if (value === undefined) {
    throw refused(
      kind,
      `has a table adk_internal_metadata without the row '${METADATA.version}', and may be damaged`,
    );
  }
  const version = Number(value);
  if (version === SCHEMA_VERSION) return;
  if (version > SCHEMA_VERSION) {
    throw refused(
      kind,
      `is of schema version ${version}; install a newer adk-session-wasm`,
      'storage_newer',
    );
  }
  throw pickled(kind);
}

/** Where no version says it, by what Python goes by itself. */
function checkLayout(columns: readonly Column[], kind: EngineKind): void {
  const typeOf = (name: string) =>
    columns.find((column) => column.table === 'events' && column.name === name)?.type;
  if (typeOf('event_data') === undefined) {
    if (typeOf('actions') !== undefined) throw pickled(kind);
    throw refused(kind, 'has a table events that is none of google-adk');
  }
  if (kind === 'sqlite' && typeOf('timestamp')?.toUpperCase() === 'REAL') {
    throw refused(
      kind,
      "has the tables of google-adk's SqliteSessionService (times as numbers), which are not those of its DatabaseSessionService; open another file",
    );
  }
}

function pickled(kind: EngineKind): SessionError {
  return refused(
    kind,
    'is of schema version 0, whose events are Python pickles; migrate it with google-adk for Python: adk migrate session --source_db_url SOURCE --dest_db_url DESTINATION',
  );
}

/**
 * Tables that Python made under MySQL or MariaDB may keep times to the second, cut long texts off, and
 * read `alice`'s session for `Alice`.
 */
async function checkExactness(connection: Database, columns: readonly Column[]): Promise<void> {
  const exact = await exactCollation(connection);
  const wrong = columns.filter(({ table, name, type, collation }) => {
    if (table === OURS) return false;
    if (isTime(name)) return type !== 'datetime(6)';
    if (isText(name)) return type !== 'longtext';
    return collation !== null && collation !== exact;
  });
  if (wrong.length === 0) return;
  const statements = wrong.map(({ table, name, type }) => {
    const column = `ALTER TABLE \`${table}\` MODIFY \`${name}\``;
    if (isTime(name)) return `${column} DATETIME(6) NOT NULL`;
    const text = isText(name) ? 'LONGTEXT' : type.toUpperCase();
    const isNullable = name === 'event_data';
    return `${column} ${text} CHARACTER SET utf8mb4 COLLATE ${exact}${isNullable ? '' : ' NOT NULL'}`;
  });
  // A column that a foreign key goes by cannot be changed.
  const keys = await foreignKeys(connection);
  const all = [
    ...keys.map((name) => `ALTER TABLE events DROP FOREIGN KEY \`${name}\``),
    ...statements,
    'ALTER TABLE events ADD FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE',
  ];
  throw refused('mysql', `has columns that would lose data; run: ${all.join('; ')};`);
}

async function foreignKeys(connection: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select constraint_name as name from information_schema.table_constraints
    where table_schema = database() and table_name = 'events'
      and constraint_type = 'FOREIGN KEY'`.execute(connection);
  return rows.map(({ name }) => name);
}

const isTime = (name: string) => ['timestamp', 'create_time', 'update_time'].includes(name);
const isText = (name: string) => name === 'state' || name === 'event_data';

async function readColumns(connection: Database, kind: EngineKind): Promise<Column[]> {
  const tables = sql.join(TABLES);
  const query = {
    sqlite: sql<Column>`
      select m.name as "table", c.name as "name", c.type as "type", null as "collation"
      from sqlite_master m join pragma_table_info(m.name) c
      where m.type = 'table' and m.name in (${tables})`,
    postgresql: sql<Column>`
      select table_name as "table", column_name as "name", data_type as "type",
        null as "collation"
      from information_schema.columns
      where table_schema = current_schema() and table_name in (${tables})`,
    mysql: sql<Column>`
      select table_name as \`table\`, column_name as \`name\`, column_type as \`type\`,
        collation_name as \`collation\`
      from information_schema.columns
      where table_schema = database() and table_name in (${tables})`,
  }[kind];
  return (await query.execute(connection)).rows;
}

function refused(
  kind: EngineKind,
  what: string,
  code: SessionErrorCode = 'storage_unavailable',
): SessionError {
  return new SessionError(code, `The ${kind} database ${what}.`, { storage: kind });
}
