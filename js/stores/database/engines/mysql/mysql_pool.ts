/**
 * Runs queries on MariaDB through `mysql2` itself. Through Kysely the server would parse and plan
 * a query each time it runs.
 */
import { isEqualJson } from '../../../../values/json/equal.js';
import { utf8Length } from '../../../../values/json/text.js';
import { type Socket, Sockets } from '../../engine/driver.js';
import { Prepared } from '../../engine/prepared.js';
import type { ServerConnection, ServerPool } from '../../transactions/server_runner.js';

/** The part of a pool of `mysql2` that is used. */
export interface MysqlPromisePool {
  getConnection(): Promise<MysqlConnection>;
  end(): Promise<void>;
  /** Emitted at once by a `getConnection` that has to wait, since all connections are in use. */
  on(event: 'enqueue', listener: () => void): unknown;
  on(event: 'connection', listener: (connection: MysqlPooledConnection) => void): unknown;
}

/** A new connection of a pool, as the pool announces it. */
export interface MysqlPooledConnection {
  readonly stream?: Socket;
  /** Emitted for failures outside of a query. */
  on(event: 'error', listener: (error: unknown) => void): unknown;
  query(query: string, done: (error: unknown, rows: unknown) => void): unknown;
}

/** The part of a connection of `mysql2` that is used. */
export interface MysqlConnection {
  /** The object that the pool announced. */
  readonly connection: {
    readonly stream?: Socket;
    /** The server's id of the connection. */
    readonly threadId?: unknown;
  };
  query(query: string, values?: readonly unknown[]): Promise<[rows: unknown, ...rest: unknown[]]>;
  /** Runs a prepared statement. Prepares the query at its first use on this connection. */
  execute(query: string, values: readonly unknown[]): Promise<[rows: unknown, ...rest: unknown[]]>;
  release(): void;
  destroy(): void;
}

/** The code for a statement that is longer than `max_allowed_packet`. */
export const TOO_LARGE = 'ER_NET_PACKET_TOO_LARGE';

/**
 * The codes that say that statements cannot be prepared. A proxy may not support them, the server may have
 * reached its limit of them, or its table cache may be too small.
 */
const NOT_PREPARED = [
  'ER_UNSUPPORTED_PS',
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'ER_NEED_REPREPARE',
  'ER_UNKNOWN_STMT_HANDLER',
];

/** The bytes of a packet beside the statement and its values, and beside each value. */
const PACKET_BYTES = 64;
const VALUE_BYTES = 16;

/**
 * Refuses a statement that is longer than the server accepts. The server would close the connection while the
 * statement is being sent, and the driver would report only that.
 *
 * @param isText whether the driver writes the values into the statement
 * @param server the rows of {@link SERVER_QUERY}
 */
function requireFitting(
  statement: string,
  values: readonly unknown[],
  isText: boolean,
  server: unknown,
): void {
  const [row] = (server ?? []) as { longest?: unknown }[];
  const limit = Number(row?.longest ?? Infinity);
  const all = [statement, ...values];
  const most = all.reduce<number>(
    (sum, value) => sum + VALUE_BYTES + mostBytes(value),
    PACKET_BYTES,
  );
  if (most <= limit) return;
  const bytes = all.reduce<number>(
    (sum, value) => sum + VALUE_BYTES + bytesOfValue(value, isText),
    PACKET_BYTES,
  );
  if (bytes <= limit) return;
  const message = `a statement of ${bytes} bytes is longer than max_allowed_packet, ${limit}`;
  throw Object.assign(new Error(message), { code: TOO_LARGE });
}

/** The most bytes that a value may take in a statement, without a look at its characters. */
function mostBytes(value: unknown): number {
  // A UTF-16 unit takes one to three bytes. The driver escapes some that take one, and writes bytes in hexadecimal.
  if (typeof value === 'string') return value.length * 3;
  return value instanceof Uint8Array ? value.length * 2 : 0;
}

function bytesOfValue(value: unknown, isText: boolean): number {
  if (typeof value !== 'string') return mostBytes(value) / (isText ? 1 : 2);
  // eslint-disable-next-line no-control-regex
  const escaped = isText ? (value.match(/[\0\b\t\n\r\x1a"'\\]/g)?.length ?? 0) : 0;
  return utf8Length(value) + escaped;
}

/**
 * Returns a pool whose connections wait for each answer before they send the next query.
 *
 * @param createPool makes another pool to the same server; the given options override those of the first pool
 * @param onLost called when a connection is lost
 */
export function mysqlPool(
  pool: MysqlPromisePool,
  createPool: (options: object) => MysqlPromisePool,
  onLost: (error: unknown) => void,
): ServerPool {
  let isPrepared = true;
  const sockets = new Sockets();
  /** By connection, the rows of {@link SERVER_QUERY}. */
  const servers = new WeakMap<object, unknown>();
  /** The connections whose rows have not come. */
  const asking = new WeakMap<object, Promise<void>>();
  let queued = 0;
  pool.on('enqueue', () => (queued += 1));
  pool.on('connection', (connection) => {
    connection.on('error', onLost);
    sockets.add(connection.stream);
    const asked = new Promise<void>((resolve) => {
      connection.query(SERVER_QUERY, (error, rows) => {
        if (!error) servers.set(connection, rows);
        asking.delete(connection);
        resolve();
      });
    });
    asking.set(connection, asked);
  });

  return {
    async connect(onQueue): Promise<ServerConnection> {
      const before = queued;
      const connecting = pool.getConnection();
      if (queued > before) onQueue();
      const connection = await connecting;
      const wasPrepared = isPrepared;
      let answered = 0;
      return {
        async query({ statement, values }) {
          const { sql } = statement.query;
          // The driver binds a number as a double, which the server does not accept as a limit.
          const executes =
            isPrepared &&
            statement instanceof Prepared &&
            values.every((value) => typeof value !== 'number');
          // The first statement of a connection would not know the limit.
          const asked = asking.get(connection.connection);
          if (asked !== undefined) await asked;
          requireFitting(sql, values, !executes, servers.get(connection.connection));
          const [rows] = executes
            ? await connection.execute(sql, values)
            : await connection.query(sql, values);
          answered += 1;
          return Array.isArray(rows) ? (rows as readonly unknown[]) : [];
        },
        received: () => answered + (connection.connection.stream?.bytesRead ?? 0),
        cancel() {
          const { connection: announced } = connection;
          sendKill(createPool, announced.threadId, servers.get(announced)).catch(() => undefined);
        },
        fallsBack(error) {
          const { code } = Object(error) as { code?: unknown };
          if (!wasPrepared || !NOT_PREPARED.includes(String(code))) return false;
          isPrepared = false;
          return true;
        },
        release: () => connection.release(),
        destroy() {
          connection.destroy();
          // Otherwise the driver waits until the server closes its side too.
          connection.connection.stream?.destroy();
        },
      };
    },
    end: () => sockets.end(pool),
  };
}

/** The limit, in milliseconds, for connecting to the server and again for its answer. */
const KILL_MS = 2000;

/**
 * Asks which server a connection leads to. Behind a load balancer another connection may lead to another server,
 * where the same number belongs to someone else's connection. Also asks for its `max_allowed_packet`.
 */
const SERVER_QUERY = 'select @@hostname, @@port, @@server_id, @@max_allowed_packet as longest';

/**
 * Asks the server to end a connection that was closed. The server looks at a connection only between
 * statements, so it would otherwise wait for further locks and keep those that it holds. `kill query` would
 * have no effect if it arrived before the statement began.
 *
 * @param server the rows of {@link SERVER_QUERY} on that connection. On any other server nothing is killed.
 * @param createPool makes a separate pool, since all connections of the first may wait for the same lock
 */
async function sendKill(
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
