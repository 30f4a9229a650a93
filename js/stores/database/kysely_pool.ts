/** Connections of a Kysely that the user made, with a driver that is unknown here. */
import type { ControlledTransaction } from 'kysely';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Connection } from './engine/connection.js';
import type { Engine } from './engine/engine.js';
import { failureKind } from './engine/failure.js';
import {
  plainQuery,
  type Query,
  readsNul,
  type Steps,
  together,
  withoutNul,
} from './engine/prepared.js';
import type { Waits } from './engine/waits.js';
import type { Database, Tables } from './tables/tables.js';
import {
  type ServerConnection,
  type ServerPool,
  serverConnection,
} from './transactions/server_runner.js';
import { type BeginQueries, COMMIT, ROLLBACK } from './transactions/transaction.js';

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
  const isWhole = await requireTransactions(database, pool, engine, waits);
  const checked = isWhole ? pool : kyselyPool(database, engine, withoutNul);
  return serverConnection(checked, engine, waits, BEGIN);
}

// Stand for the calls of Kysely that begin a transaction. Their text is not sent: a driver may begin by a call of its own.
const BEGIN_READ = plainQuery('start transaction read only');
const BEGIN_WRITE = plainQuery('start transaction');

const BEGIN: BeginQueries = {
  read: [BEGIN_READ],
  write: [BEGIN_WRITE],
  createTables: [BEGIN_WRITE],
  autocommit: [],
};

/** Begins as the engine's own statements do. SQLite has one isolation level, and its drivers take no settings. */
function begin(
  connection: Database,
  { transactions }: Engine,
  query: Query,
): Promise<ControlledTransaction<Tables>> {
  const builder = connection.startTransaction();
  if (!transactions.locksRows) return builder.execute();
  if (query === BEGIN_WRITE) return builder.setIsolationLevel('read committed').execute();
  return builder.setIsolationLevel('repeatable read').setAccessMode('read only').execute();
}

/** Returns the values that are sent in place of those of a query. */
type Check = (values: readonly unknown[]) => readonly unknown[];

function kyselyPool(
  database: Database,
  engine: Engine,
  check: Check = (values) => values,
): ServerPool {
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        database
          .connection()
          .execute(
            (connection) =>
              new Promise<void>((release) =>
                resolve(connectionOf(connection, engine, check, release)),
              ),
          )
          .catch(reject);
      }),
    // The user closes it.
    end: () => Promise.resolve(),
  };
}

function connectionOf(
  connection: Database,
  engine: Engine,
  check: Check,
  release: () => void,
): ServerConnection {
  let answered = 0;
  let pending: Promise<unknown> = Promise.resolve();
  let transaction: ControlledTransaction<Tables> | undefined;
  const isClean = (error: unknown): boolean =>
    failureKind(engine, error) === 'lost' ||
    engine.transactions.noTransaction?.test(String(error)) === true;
  const run = async (query: Query): Promise<readonly unknown[]> => {
    if (query === BEGIN_READ || query === BEGIN_WRITE) {
      transaction = await begin(connection, engine, query);
    } else if (query === COMMIT) {
      await transaction?.commit().execute();
      transaction = undefined;
    } else if (query === ROLLBACK) {
      await transaction
        ?.rollback()
        .execute()
        .catch((error: unknown) => {
          if (!isClean(error)) throw error;
        });
      transaction = undefined;
    } else {
      const { statement, values } = query;
      const sent = { ...statement.query, parameters: check(values) };
      return (await (transaction ?? connection).executeQuery(sent)).rows;
    }
    return [];
  };
  return {
    async query(query) {
      const result = run(query);
      pending = result;
      const rows = await result;
      answered += 1;
      return rows;
    },
    received: () => answered,
    release,
    // Kysely cannot close the connection. The pool gets it back once it has no transaction and everything is
    // undone, or if its driver knows that it is lost.
    destroy(undo) {
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
 * @returns whether the driver reads ids with NUL back, or the engine refuses them anyway
 * @throws SessionError `storage_unavailable` if no transaction holds, or if the server cannot be reached
 */
async function requireTransactions(
  database: Database,
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
): Promise<boolean> {
  const set = plainQuery(`savepoint ${CHECK_SAVEPOINT}`);
  // Fails outside of the transaction.
  const release = plainQuery(`release savepoint ${CHECK_SAVEPOINT}`);
  const setAndRelease = function* (): Steps<boolean> {
    yield* together([set]);
    const isWhole = engine.tables.limitsIds || (yield* readsNul());
    yield* together([release]);
    return isWhole;
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
    const { run } = serverConnection({ ...pool, connect }, engine, waits, BEGIN);
    return await run('read', setAndRelease, {});
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
