/** What of a pool of `mysql2` is used. */
export interface MysqlPromisePool {
  getConnection(): Promise<MysqlConnection>;
  end(): Promise<void>;
}

/** What of its connections is used. */
export interface MysqlConnection {
  readonly connection: {
    readonly stream?: { readonly bytesRead?: number; destroy(): unknown };
    /** The server's number of the connection. */
    readonly threadId?: unknown;
  };
  query(query: string, values?: readonly unknown[]): Promise<[rows: unknown, ...rest: unknown[]]>;
  /** Prepares the query, at its first use on this connection. */
  execute(query: string, values: readonly unknown[]): Promise<[rows: unknown, ...rest: unknown[]]>;
  release(): void;
  destroy(): void;
}
