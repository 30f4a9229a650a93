/** Checks that the Kysely of a user can hold a transaction. */
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import type { Engine } from '../engine/engine.js';
import type { Database } from '../tables/tables.js';
import type { ServerPool } from '../transactions/lease.js';
import { type Steps, together } from '../engine/prepared.js';
import { serverConnection } from '../transactions/server_runner.js';
import type { Waits } from '../engine/waits.js';

const NAME = 'adk_session_wasm_check';

/**
 * Sets a savepoint in a transaction and releases it. A driver that gives each statement another connection
 * fails, because a savepoint ends with its transaction.
 *
 * Such a driver often reuses the connection that was freed last. Statements that run one by one then do not
 * reveal the fault. Therefore another statement runs at the same time and releases the same savepoint. It
 * succeeds only if it gets into this transaction, and then the release within the transaction fails.
 *
 * @param pool the connections of `database`
 * @throws SessionError `storage_unavailable` if no transaction holds, or if the server cannot be reached
 */
export async function requireTransactions(
  database: Database,
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
): Promise<void> {
  const { set, release } = engine.savepoint(NAME);
  const setAndRelease = function* (): Steps<void> {
    yield* together([set]);
    yield* together([release]);
  };
  const connect: ServerPool['connect'] = async (onQueue) => {
    const connection = await pool.connect(onQueue);
    return {
      ...connection,
      async query(query) {
        if (query === release) {
          // A pool of one connection runs it after this transaction. So it must not be awaited here.
          database.executeQuery(release.statement.query).catch(() => undefined);
          await untilSent();
        }
        return connection.query(query);
      },
    };
  };
  try {
    const { run } = serverConnection({ ...pool, connect }, engine, waits);
    await run('read', setAndRelease, {});
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

/** Waits one turn of the event loop, after which the other statement has been sent. */
function untilSent(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}
