import type { Socket } from '../../connections/sockets.js';

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
