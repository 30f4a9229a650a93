/** Connections of a Kysely that the user made, with a driver that is unknown here. */
import type { Connection } from '../engine/connection.js';
import type { Engine } from '../engine/engine.js';
import { failureKind } from '../engine/failure.js';
import type { Query } from '../engine/prepared.js';
import type { Waits } from '../engine/waits.js';
import type { Database } from '../tables/tables.js';
import type { ServerConnection, ServerPool } from '../transactions/lease.js';
import { serverConnection } from '../transactions/server_runner.js';
import { ROLLBACK } from '../transactions/transaction.js';
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
        failureKind(engine, error) === 'lost' || engine.noTransaction?.test(String(error)) === true;
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
