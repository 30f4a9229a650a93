import { type RawBuilder, sql } from 'kysely';
import { INDEX_FACTOR } from '../../engine/waits.js';
import type { EngineTables, IndexParts } from '../../engine/engine.js';
import { runOnce, type Steps } from '../../engine/prepared.js';

const SLOW = { factor: INDEX_FACTOR };

/** @param condition `if not exists `, which only MariaDB knows here, or nothing */
export function indexStatement(
  { table, name, columns }: IndexParts,
  condition: string,
): RawBuilder<unknown> {
  return sql`alter table ${sql.table(table)} add index ${sql.raw(condition)}${sql.ref(name)} (${sql.raw(columns.join(', '))}), algorithm=inplace, lock=none`;
}

/**
 * Builds an index beside writers. The statement waits for transactions that use the table, and writers wait behind
 * it. The limit of one second bounds that.
 */
export function* buildInPlace({ database }: EngineTables, index: IndexParts): Steps<void> {
  const undo = sql`set session lock_wait_timeout = default`;
  yield* runOnce(database, sql`set session lock_wait_timeout = 1`, { undo });
  yield* runOnce(database, indexStatement(index, ''), SLOW);
}
