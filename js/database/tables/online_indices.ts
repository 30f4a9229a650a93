/** Finds missing indices of tables that others write to, and builds them without stopping the writers. */
import { type RawBuilder, sql } from 'kysely';
import type { EngineKind } from '../engines/engine.js';
import { type Index, indices, type Schema } from './schema.js';
import type { TableNames } from './table_names.js';
import type { Database } from './tables.js';

/**
 * Returns the indices that are missing. Counts an index as missing if PostgreSQL does not use it because its
 * concurrent build was interrupted.
 */
export async function missingIndices(connection: Database, schema: Schema): Promise<Index[]> {
  const known = await indexNames(connection, schema);
  return indices(schema).filter(({ name }) => !known.has(name));
}

/**
 * Builds indices while others write to the tables. Never rejects: without an index lists are correct but
 * slower, so an account that may not create indices can still use the tables.
 */
export async function buildOnline(
  database: Database,
  { engine, names }: Schema,
  missing: readonly Index[],
): Promise<void> {
  const build = BUILDS[engine.kind];
  if (build === undefined) return;
  for (const index of missing) {
    await database
      .connection()
      .execute((connection) => build(connection, index, names))
      .catch(() => undefined);
  }
}

/**
 * Returns the statement that builds an index while others write to the table. Must not run within a
 * transaction.
 *
 * @param isMariadb whether a server of the kind `mysql` is MariaDB: only that one knows `if not exists` here
 */
export function onlineIndexStatement(
  kind: EngineKind,
  index: Index,
  isMariadb = false,
): RawBuilder<unknown> {
  const table = sql.table(index.table);
  const name = sql.ref(index.name);
  const columns = sql.raw(index.columns.join(', '));
  return {
    sqlite: sql`create index if not exists ${name} on ${table} (${columns})`,
    postgresql: sql`create index concurrently if not exists ${name} on ${table} (${columns})`,
    mysql: sql`alter table ${table} add index ${sql.raw(isMariadb ? 'if not exists ' : '')}${name} (${columns}), algorithm=inplace, lock=none`,
  }[kind];
}

/** Builds an index on PostgreSQL. An interrupted build has left an invalid index of the same name. */
async function buildOnPostgres(
  connection: Database,
  index: Index,
  { schema, prefix }: TableNames,
): Promise<void> {
  const place = schema ?? sql`current_schema()`;
  if (await isBeingBuilt(connection, place, prefix + index.table)) return;
  await sql`drop index concurrently if exists ${inSchema(schema, index.name)}`.execute(connection);
  await onlineIndexStatement('postgresql', index).execute(connection);
}

/**
 * Builds an index on MySQL. The statement waits for transactions that use the table, and writers wait behind
 * it. The limit of one second bounds that.
 */
async function buildOnMysql(connection: Database, index: Index): Promise<void> {
  await sql`set session lock_wait_timeout = 1`.execute(connection);
  try {
    await onlineIndexStatement('mysql', index).execute(connection);
  } finally {
    await sql`set session lock_wait_timeout = default`.execute(connection);
  }
}

/** Builds an index while others write; `undefined` if that would lock the whole database. */
const BUILDS: Readonly<
  Record<
    EngineKind,
    ((connection: Database, index: Index, names: TableNames) => Promise<void>) | undefined
  >
> = {
  sqlite: undefined,
  postgresql: buildOnPostgres,
  mysql: buildOnMysql,
};

/**
 * Whether another connection is building an index of the table. Its index is invalid until the build ends,
 * and two builds at once deadlock. The lock may also be a vacuum's; the next opening then builds the index.
 */
async function isBeingBuilt(
  connection: Database,
  schema: RawBuilder<unknown> | string,
  table: string,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_locks join pg_class on pg_class.oid = relation
      join pg_namespace on pg_namespace.oid = relnamespace
    where relname = ${table} and nspname = ${schema} and mode = 'ShareUpdateExclusiveLock'
      and database = (select oid from pg_database where datname = current_database())`.execute(
    connection,
  );
  return rows.length > 0;
}

function inSchema(schema: string | undefined, name: string): RawBuilder<unknown> {
  return schema === undefined ? sql.ref(name) : sql.id(schema, name);
}

async function indexNames(connection: Database, { engine, names }: Schema): Promise<Set<string>> {
  const { schema } = names;
  const query = {
    sqlite: sql<{ known: string }>`select name as known from sqlite_master where type = 'index'`,
    postgresql: sql<{ known: string }>`
      select relname as known from pg_index join pg_class on pg_class.oid = indexrelid
        join pg_namespace on pg_namespace.oid = relnamespace
      where indisvalid and nspname = ${schema ?? sql`current_schema()`}`,
    mysql: sql<{ known: string }>`
      select index_name as known from information_schema.statistics
      where table_schema = ${schema ?? sql`database()`}`,
  }[engine.kind];
  return new Set((await query.execute(connection)).rows.map(({ known }) => known));
}
