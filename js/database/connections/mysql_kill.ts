import type { MysqlPromisePool } from './mysql_driver.js';

/** How long the way to the server, and then its answer, may take. */
const KILL_MS = 2000;

/**
 * Asks the server to end a connection that was closed: it would else keep its locks until it has got those that
 * it waits for, since it looks at a connection only between its statements. `kill query` would do nothing if it
 * came before the server has begun the statement.
 *
 * @param createPool makes a pool of its own, since those in use may all wait for the same lock
 */
export async function sendKill(
  createPool: (options: object) => MysqlPromisePool,
  threadId: unknown,
): Promise<void> {
  if (typeof threadId !== 'number') return;
  const pool = createPool({ connectionLimit: 1, connectTimeout: KILL_MS });
  try {
    const connection = await pool.getConnection();
    // A frozen server answers nothing, and the program could not end.
    const timer = setTimeout(() => connection.connection.stream?.destroy(), KILL_MS);
    await connection.query(`kill ${threadId}`).finally(() => clearTimeout(timer));
  } finally {
    await pool.end();
  }
}
