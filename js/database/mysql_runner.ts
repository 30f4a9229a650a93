/** Runs verbs on MySQL and MariaDB with `mysql2` itself: Kysely has the server parse and plan each query anew. */
import type { Engine } from './engine.js';
import type { Query, Steps } from './prepared.js';
import { oneByOne, type Runner } from './runner.js';
import { type Mode, retried } from './transaction.js';

/** What of a pool of `mysql2` is used. */
export interface MysqlPromisePool {
  getConnection(): Promise<MysqlConnection>;
}

interface MysqlConnection {
  query(query: string, values?: readonly unknown[]): Promise<[rows: unknown, ...rest: unknown[]]>;
  /** Prepares the query, at its first use on this connection. */
  execute(query: string, values: readonly unknown[]): Promise<[rows: unknown, ...rest: unknown[]]>;
  release(): void;
}

/**
 * What says that there are no prepared statements to be had: a proxy in between that knows none, a server
 * whose number of them is used up, or whose cache of tables is too small for them.
 */
const NOT_PREPARED = [
  'ER_UNSUPPORTED_PS',
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'ER_NEED_REPREPARE',
  'ER_UNKNOWN_STMT_HANDLER',
];

/**
 * Waits for each query before it sends the next. An error does not end a transaction here as it does on
 * PostgreSQL: a commit that was sent along would keep what came before the error.
 */
export function mysqlRunner(pool: MysqlPromisePool, engine: Engine): Runner {
  let isPrepared = true;

  const rowsOf = async (
    connection: MysqlConnection,
    { statement, values }: Query,
  ): Promise<readonly unknown[]> => {
    const { sql } = statement.query;
    // The driver binds a number as a floating one, which MySQL takes for no limit.
    const executes = isPrepared && values.every((value) => typeof value !== 'number');
    const [rows] = executes
      ? await connection.execute(sql, values)
      : await connection.query(sql, values);
    return Array.isArray(rows) ? (rows as readonly unknown[]) : [];
  };

  const once = async <T>(mode: Mode, work: () => Steps<T>): Promise<T> => {
    const connection = await pool.getConnection();
    try {
      const begin = mode === 'write' ? engine.beginWrite : engine.beginRead;
      for (const statement of begin) await connection.query(statement);
      const result = await oneByOne(work(), (query) => rowsOf(connection, query));
      await connection.query('commit');
      return result;
    } catch (error) {
      // Where the connection is gone there is nothing to take back, and `error` is the one that tells.
      await connection.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      connection.release();
    }
  };

  return (mode, work) =>
    retried(engine, () => {
      const wasPrepared = isPrepared;
      return once(mode, work).catch((error: unknown) => {
        const { code } = Object(error) as { code?: unknown };
        if (!wasPrepared || !NOT_PREPARED.includes(String(code))) throw error;
        isPrepared = false;
        return once(mode, work);
      });
    });
}
