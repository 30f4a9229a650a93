import type { Connection } from '../engine/connection.js';
import type { Engine } from '../engine/engine.js';
import type { Waits } from '../engine/waits.js';
import type { Database } from '../tables/tables.js';
import { serverConnection } from '../transactions/server_runner.js';
import { kyselyPool } from './kysely_pool.js';
import { requireTransactions } from './transaction_check.js';

/**
 * Takes connections from the Kysely of a user, who closes it.
 *
 * @throws SessionError `storage_unavailable` if it cannot hold a transaction
 */
export async function connectKysely(
  database: Database,
  engine: Engine,
  waits: Waits,
): Promise<Connection> {
  const pool = kyselyPool(database, engine);
  await requireTransactions(database, pool, engine, waits);
  return serverConnection(pool, engine, waits);
}
