/** What of a pool of `pg` is used. */
export interface PgPool {
  on(event: 'connect', listener: (client: PgClient) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}

/** A connection of `pg`. */
export interface PgClient {
  /** Whether it sends a query while others are under way. Older versions never do. */
  readonly pipeline?: boolean;
  /** What a cancel request names the connection by. Some poolers give none. */
  readonly processID?: unknown;
  readonly secretKey?: unknown;
  readonly connection: { readonly stream: PgStream };
  on(event: 'error' | 'end', listener: () => void): unknown;
  query(query: PgQuery): Promise<{ rows?: unknown[] }>;
  query(query: PgRows): unknown;
  release(destroys?: boolean): void;
}

/** The socket, with or without TLS. */
export interface PgStream {
  readonly bytesRead?: number;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  destroy(): unknown;
}

/** `Query` of `pg`: tells of each row when it comes. */
export type PgRowsClass = new (
  query: PgQuery,
  done: (error: Error | null | undefined) => void,
) => PgRows;

export interface PgRows {
  on(event: 'row', listener: (row: unknown, result: { rows: unknown[] }) => void): unknown;
}

export interface PgQuery {
  name?: string;
  text: string;
  values?: readonly unknown[];
}
