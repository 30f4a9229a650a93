/** Finds missing indices of tables that others write to, and builds them without stopping the writers. */
import { type RawBuilder, sql } from 'kysely';
import type { Engine, EngineKind } from '../engines/engine.js';
import { runOnce, type Steps } from '../transactions/prepared.js';
import { oneAttempt, type Runner } from '../transactions/transaction.js';
import { type Index, INDEX_FACTOR, indices } from './schema.js';
import type { NamedTables } from './tables.js';

const SLOW = { factor: INDEX_FACTOR };

/**
 * Returns the indices that are missing. Counts an index as missing if PostgreSQL does not use it because its
 * concurrent build was interrupted.
 */
export function* missingIndices(tables: NamedTables): Steps<Index[]> {
  const known = yield* indexNames(tables);
  return indices(tables).filter(({ name }) => !known.has(name));
}

/**
 * Builds indices while others write to the tables. Never rejects: without an index lists are correct but
 * slower, so an account that may not create indices can still use the tables.
 *
 * @param isStopped whether to begin no further index
 */
export async function buildOnline(
  run: Runner,
  tables: NamedTables,
  missing: readonly Index[],
  isStopped: () => boolean,
): Promise<void> {
  const build = BUILDS[tables.engine.kind];
  if (build === undefined) return;
  for (const index of missing) {
    if (isStopped()) return;
    try {
      // Not retried, since writers wait behind each attempt.
      await run('autocommit', () => build(tables, index), {}, oneAttempt(tables.engine));
    } catch {
      // The next opening builds the index.
    }
  }
}

/**
 * Returns the statement that builds an index while others write to the table. Must not run within a
 * transaction.
 *
 * @param isMariadb whether a server of the kind `mysql` is MariaDB: only that one knows `if not exists` here
 */
export function onlineIndexStatement(
  engine: Engine,
  index: Index,
  isMariadb = false,
): RawBuilder<unknown> {
  const table = sql.table(index.table);
  const name = sql.ref(index.name);
  const columns = sql.raw(index.columns.join(', '));
  return engine.buildIndex({ table, name, columns, isMariadb });
}

/** Builds an index on PostgreSQL. An interrupted build has left an invalid index of the same name. */
function* buildOnPostgres(tables: NamedTables, index: Index): Steps<void> {
  const { database, names } = tables;
  if (yield* isBeingBuilt(tables, index)) return;
  const name = inSchema(names.schema, index.name);
  yield* runOnce(database, sql`drop index concurrently if exists ${name}`, SLOW);
  yield* runOnce(database, onlineIndexStatement(tables.engine, index), SLOW);
}

/**
 * Builds an index on MySQL. The statement waits for transactions that use the table, and writers wait behind
 * it. The limit of one second bounds that.
 */
function* buildOnMysql(tables: NamedTables, index: Index): Steps<void> {
  const { database } = tables;
  const undo = sql`set session lock_wait_timeout = default`;
  yield* runOnce(database, sql`set session lock_wait_timeout = 1`, { undo });
  yield* runOnce(database, onlineIndexStatement(tables.engine, index), SLOW);
}

/** Builds an index while others write; `undefined` if that would lock the whole database. */
const BUILDS: Readonly<
  Record<EngineKind, ((tables: NamedTables, index: Index) => Steps<void>) | undefined>
> = {
  sqlite: undefined,
  postgresql: buildOnPostgres,
  mysql: buildOnMysql,
};

/**
 * Whether another connection is building an index of the table. Its index is invalid until the build ends,
 * and two builds at once deadlock. The lock may also be a vacuum's; the next opening then builds the index.
 */
function* isBeingBuilt(
  { database, names: { schema, prefix } }: NamedTables,
  { table }: Index,
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

function* indexNames({ database, engine, names }: NamedTables): Steps<Set<string>> {
  const rows = yield* runOnce(database, engine.catalog.indexNames(names.schema));
  return new Set(rows.map(({ known }) => known));
}
