/** Checks that the Kysely of a user can hold a transaction. */
import { CompiledQuery } from 'kysely';
import { isSessionError, SessionError } from '../../errors/errors.js';
import type { Engine } from '../engines/engine.js';
import type { Database } from '../tables/tables.js';
import { inTransaction } from '../transactions/transaction.js';

const NAME = 'adk_session_wasm_check';
const SET = CompiledQuery.raw(`savepoint ${NAME}`);
const RELEASE = CompiledQuery.raw(`release savepoint ${NAME}`);

/**
 * Sets a savepoint in a transaction and releases it: a driver that gives each statement another connection
 * fails, as a savepoint ends with the transaction it stands in.
 *
 * Such a driver often takes the connection that was free last, which hides the fault from statements that
 * run one by one. Therefore another statement runs beside. It releases the same savepoint, and that fails
 * unless it gets into this transaction; then the release within fails.
 *
 * @throws SessionError `storage_unavailable` if no transaction holds, or there is no way to the server
 */
export async function requireTransactions(database: Database, engine: Engine): Promise<void> {
  try {
    await inTransaction(database, engine, 'read', async (connection) => {
      await connection.executeQuery(SET);
      // A pool of one connection runs it after this transaction, so that nothing here waits for its end.
      database.executeQuery(RELEASE).catch(() => undefined);
      await untilSent();
      await connection.executeQuery(RELEASE);
    });
  } catch (error) {
    if (!isSessionError(error, 'storage_failed')) throw error;
    throw new SessionError(
      'storage_unavailable',
      'This Kysely cannot hold a transaction: its statements run on different connections. ' +
        'Use a driver that keeps one connection from begin to commit.',
      { storage: engine.kind, cause: error },
    );
  }
}

/** The other statement is on its way after one turn of the event loop. */
function untilSent(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}
