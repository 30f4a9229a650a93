import { type RawBuilder, sql } from 'kysely';
import { condition } from '../../engine/common_sql.js';
import { INDEX_FACTOR } from '../../engine/waits.js';
import type { EngineTables, IndexParts } from '../../engine/engine.js';
import { runOnce, type Steps } from '../../engine/prepared.js';

const SLOW = { factor: INDEX_FACTOR };

export function indexStatement({ table, name, columns, where }: IndexParts): RawBuilder<unknown> {
  return sql`create index concurrently if not exists ${sql.ref(name)} on ${sql.table(table)} (${sql.raw(columns.join(', '))})${condition(where)}`;
}

/** Builds an index beside writers. An interrupted build has left an invalid index of the same name. */
export function* buildConcurrently(tables: EngineTables, index: IndexParts): Steps<void> {
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
