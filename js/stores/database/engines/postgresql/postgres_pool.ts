/** Runs queries on PostgreSQL through `pg` itself. Kysely does not name statements, and waits for each. */
import type { Socket as NetSocket } from 'node:net';
import { Prepared, type Query, type Statement } from '../../engine/prepared.js';
import type { ServerConnection, ServerPool } from '../../transactions/server_runner.js';
import { type Socket, Sockets } from '../../engine/driver.js';

/** The part of a pool of `pg` that is used. */
export interface PgPool {
  on(event: 'connect', listener: (client: PgClient) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}

/** A connection of `pg`. */
export interface PgClient {
  /** Whether it sends queries without waiting for earlier ones. Older versions never do. */
  readonly pipeline?: boolean;
  /** The connection's id in a cancel request, together with `secretKey`. Some poolers give none. */
  readonly processID?: unknown;
  readonly secretKey?: unknown;
  readonly connection: { readonly stream: Socket };
  on(event: 'error', listener: () => void): unknown;
  query(query: PgQuery): Promise<{ rows?: unknown[] }>;
  query(query: PgRows): unknown;
  release(destroys?: boolean): void;
}

/** The part of the class `Client` of `pg` that sends a cancel request. */
export type PgClientClass = new (options: { readonly ssl: false }) => {
  readonly connection: {
    readonly stream: NetSocket;
    on(event: 'connect' | 'error', listener: () => void): unknown;
    connect(port: number, host: string): void;
    cancel(processID: number, secretKey: number): void;
  };
};

/** The class `Query` of `pg`, which emits each row when it arrives. */
export type PgRowsClass = new (
  query: PgQuery,
  done: (error: Error | null | undefined) => void,
) => PgRows;

/** A query that emits its rows. */
export interface PgRows {
  on(event: 'row', listener: (row: unknown, result: { rows: unknown[] }) => void): unknown;
}

/** The text, values and name of a query. */
export interface PgQuery {
  name?: string;
  text: string;
  values?: readonly unknown[];
}

/**
 * The driver collects the rows of a query that has a callback. They are discarded once there are this many.
 */
const KEPT_ROWS = 64;

/**
 * The codes of a server that lacks the named statement, has another of that name, or expects other values. They
 * come from a pooler in between, which runs each transaction on another of its connections.
 */
const NAMES_FAILED = ['26000', '42P05', '08P01'];

/** The code of a named statement that would return other columns, since a table was altered after its first use. */
const COLUMNS_CHANGED = '0A000';

/**
 * Returns a pool whose connections send the queries of a request without waiting in between, if the pool has
 * the option `pipeline: true`. A request then takes one round trip. After an error the server turns the
 * commit into a rollback.
 *
 * Statements are named, so the server parses and plans each only once per connection. The name is a hash of
 * the SQL. Behind a pooler several programs share a server's connection, and one name must never stand for
 * two statements there.
 *
 * After a table was altered, each connection that knows its old columns is closed, and the transaction runs again
 * on another one. If a new connection fails too, names do not work here, and are used no more.
 *
 * @param hash gives the same text in every program; without it, statements have no names
 * @param onLost called when a connection is lost outside of a query
 */
export function postgresPool(
  pool: PgPool,
  { Client, Query: Rows }: { readonly Client: PgClientClass; readonly Query: PgRowsClass },
  hash: ((text: string) => string) | undefined,
  onLost: (error: unknown) => void,
): ServerPool {
  const names = new Map<Statement, string>();
  const sockets = new Sockets();
  let isNamed = hash !== undefined;
  /** The connections that have run a transaction. */
  const used = new WeakSet<PgClient>();
  // Unhandled error events would end the program. An idle connection that breaks is replaced by the next one.
  // If a connection breaks during a query, the query fails.
  pool.on('error', onLost);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    sockets.add(client.connection.stream);
  });

  const pgQuery = ({ statement, values }: Query): PgQuery => {
    const text = statement.query.sql;
    if (!isNamed || !(statement instanceof Prepared)) return { text, values };
    let name = names.get(statement);
    if (name === undefined) names.set(statement, (name = `adk_session_wasm_${hash?.(text)}`));
    return { name, text, values };
  };

  return {
    async connect(): Promise<ServerConnection> {
      const client = await pool.connect();
      const isNew = !used.has(client);
      used.add(client);
      let hasSentNames = false;
      let isStale = false;
      return {
        async query(query) {
          const sent = pgQuery(query);
          hasSentNames ||= 'name' in sent;
          const take = query.take;
          if (take === undefined) return (await client.query(sent)).rows ?? [];
          return new Promise((resolve, reject) => {
            const rows = new Rows(sent, (error) => (error ? reject(error) : resolve([])));
            rows.on('row', (row, { rows: kept }) => {
              take(row);
              if (kept.length === KEPT_ROWS) kept.length = 0;
            });
            client.query(rows);
          });
        },
        pipelines: client.pipeline === true,
        received: () => client.connection.stream.bytesRead ?? 0,
        cancel: () => sendCancel(Client, client),
        fallsBack(error) {
          if (!hasSentNames) return false;
          const { code } = Object(error) as { code?: unknown };
          isStale = code === COLUMNS_CHANGED;
          if (isStale && !isNew) return true;
          if (!isStale && !NAMES_FAILED.includes(String(code))) return false;
          isNamed = false;
          return true;
        },
        release: () => client.release(isStale),
        destroy() {
          client.release(true);
          // Otherwise the driver waits for the pending answers first.
          client.connection.stream.destroy();
        },
      };
    },
    end: () => sockets.end(pool),
  };
}

/** The limit of one request, in milliseconds. */
const CANCEL_MS = 2000;

/**
 * The delays, in milliseconds, after which the request is repeated. The server ignores a request that comes
 * before the statement began.
 */
const REPEATS_MS = [100, 1000, 5000];

/**
 * Asks the server to cancel the statement of a connection that was closed. Otherwise the server would wait
 * for further locks and keep those that it holds. The protocol uses a separate connection for the request,
 * and sends no answer. A request for a connection that has ended does nothing, because the key belongs to
 * that connection alone. `pg_cancel_backend` knows no key: behind a pooler, it may stop another client's statement.
 */
function sendCancel(Client: PgClientClass, { processID, secretKey, connection }: PgClient): void {
  const { remoteAddress: host, remotePort: port } = connection.stream;
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return;
  if (host === undefined || port === undefined) return;
  const send = (): void => {
    const { connection: other } = new Client({ ssl: false });
    other.on('connect', () => {
      other.cancel(processID, secretKey);
      other.stream.end();
    });
    other.on('error', () => undefined);
    other.connect(port, host);
    other.stream.setTimeout(CANCEL_MS, () => other.stream.destroy());
    other.stream.unref();
  };
  send();
  for (const delay of REPEATS_MS) setTimeout(send, delay).unref();
}
