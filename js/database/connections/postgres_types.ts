import type { Socket } from './sockets.js';

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
