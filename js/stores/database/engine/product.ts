import type { QueryExecutorProvider } from 'kysely';
import type { Engine, Product } from './engine.js';
import { runOnce, type Steps } from './prepared.js';

/** Finds out which product the database is. */
export function* readProduct(engine: Engine, database: QueryExecutorProvider): Steps<Product> {
  const { version, productOf } = engine.tables;
  const [row] = version === undefined ? [] : yield* runOnce(database, version);
  return productOf(row?.version ?? '');
}
