/** SQL that our engines share. An engine that differs writes its own. */
import { type RawBuilder, sql, type QueryExecutorProvider } from 'kysely';
import type { EngineTransactions, Engine, Product } from './engine.js';
import { runOnce, type Steps } from './prepared.js';

/** Locks the rows of a query until the transaction ends, on engines with `for update`. */
export const LOCKED_ROWS: Pick<EngineTransactions, 'locksRows' | 'locksByInsert' | 'lock'> = {
  locksRows: true,
  locksByInsert: true,
  lock(query, skipsLocked = false) {
    const locked = query.forUpdate();
    return skipsLocked ? locked.skipLocked() : locked;
  },
};

/** Returns the `where` clause of a statement that creates an index. It is empty without a condition. */
export function condition(where: RawBuilder<boolean> | undefined): RawBuilder<unknown> {
  return where === undefined ? sql`` : sql` where ${where}`;
}

/** Finds out which product the database is. */
export function* readProduct(engine: Engine, database: QueryExecutorProvider): Steps<Product> {
  const { version, productOf } = engine.tables;
  const [row] = version === undefined ? [] : yield* runOnce(database, version);
  return productOf(row?.version ?? '');
}
