import { isEqualJson } from '../../../../values/json/equal.js';
import type { MysqlPromisePool } from './mysql_types.js';

/** The limit, in milliseconds, for connecting to the server and again for its answer. */
const KILL_MS = 2000;

/**
 * Asks which server a connection leads to. Behind a load balancer another connection may lead to another server,
 * where the same number belongs to someone else's connection. Also asks for its `max_allowed_packet`.
 */
export const SERVER_QUERY =
  'select @@hostname, @@port, @@server_id, @@max_allowed_packet as longest';

/**
 * Asks the server to end a connection that was closed. The server looks at a connection only between
 * statements, so it would otherwise wait for further locks and keep those that it holds. `kill query` would
 * have no effect if it arrived before the statement began.
 *
 * @param server the rows of {@link SERVER_QUERY} on that connection. On any other server nothing is killed.
 * @param createPool makes a separate pool, since all connections of the first may wait for the same lock
 */
export async function sendKill(
  createPool: (options: object) => MysqlPromisePool,
  threadId: unknown,
  server: unknown,
): Promise<void> {
  if (typeof threadId !== 'number' || server === undefined) return;
  const pool = createPool({ connectionLimit: 1, connectTimeout: KILL_MS });
  try {
    const connection = await pool.getConnection();
    // A frozen server never answers. The open socket would keep the program running.
    const timer = setTimeout(() => connection.connection.stream?.destroy(), KILL_MS);
    try {
      const [rows] = await connection.query(SERVER_QUERY);
      if (isEqualJson(rows, server)) await connection.query(`kill ${threadId}`);
    } finally {
      clearTimeout(timer);
    }
  } finally {
    await pool.end();
  }
}
