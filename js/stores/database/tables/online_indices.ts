/** Finds missing indices of tables that others write to, and builds them without stopping the writers. */
import type { Runner } from '../engine/connection.js';
import { runOnce, type Steps } from '../engine/prepared.js';
import { oneAttempt } from '../transactions/transaction.js';
import { type Index, indices } from './schema.js';
import type { NamedTables } from './tables.js';

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
  const build = tables.engine.buildOnline;
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

function* indexNames({ database, engine, names }: NamedTables): Steps<Set<string>> {
  const rows = yield* runOnce(database, engine.catalog.indexNames(names.schema));
  return new Set(rows.map(({ known }) => known));
}
