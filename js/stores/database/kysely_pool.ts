/** Connections of a Kysely that the user made, with a driver that is unknown here. */
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Connection } from './engine/connection.js';
import type { Engine } from './engine/engine.js';
import { failureKind } from './engine/failure.js';
import { plainQuery, type Query, type Steps, together } from './engine/prepared.js';
import type { Waits } from './engine/waits.js';
import type { Database } from './tables/tables.js';
import {
  type ServerConnection,
  type ServerPool,
  serverConnection,
} from './transactions/server_runner.js';
import { ROLLBACK } from './transactions/transaction.js';

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

function kyselyPool(database: Database, engine: Engine): ServerPool {
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        database
          .connection()
          .execute(
            (connection) =>
              new Promise<void>((release) => resolve(connectionOf(connection, engine, release))),
          )
          .catch(reject);
      }),
    // The user closes it.
    end: () => Promise.resolve(),
  };
}

function connectionOf(connection: Database, engine: Engine, release: () => void): ServerConnection {
  let answered = 0;
  let pending: Promise<unknown> = Promise.resolve();
  const run = ({ statement, values }: Query) =>
    connection.executeQuery({ ...statement.query, parameters: values });
  return {
    async query(query) {
      const result = run(query);
      pending = result;
      const { rows } = await result;
      answered += 1;
      return rows;
    },
    received: () => answered,
    release,
    // Kysely cannot close the connection. The pool gets it back once it has no transaction and everything is
    // undone, or if its driver knows that it is lost.
    destroy(undo) {
      const isClean = (error: unknown): boolean =>
        failureKind(engine, error) === 'lost' ||
        engine.transactions.noTransaction?.test(String(error)) === true;
      const restore = async (): Promise<void> => {
        await pending.catch(() => undefined);
        for (const query of [ROLLBACK, ...undo]) {
          try {
            await run(query);
          } catch (error) {
            if (!isClean(error)) return;
          }
        }
        release();
      };
      void restore();
    },
  };
}

const CHECK_SAVEPOINT = 'adk_session_wasm_check';

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
async function requireTransactions(
  database: Database,
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
): Promise<void> {
  const set = plainQuery(`savepoint ${CHECK_SAVEPOINT}`);
  // Fails outside of the transaction.
  const release = plainQuery(`release savepoint ${CHECK_SAVEPOINT}`);
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
