// A connection to SQLite that the caller opens and closes. It is checked before Kysely is loaded.

import type { StatementLimits } from './connection.js';

/** A synchronous connection with prepared statements, such as that of `better-sqlite3`, `node:sqlite` or `libsql`. */
export interface SqliteConnection {
  /** Prepares a statement. */
  prepare(sql: string): {
    /** Runs a statement that returns rows, with its values in order. */
    all(...values: never[]): unknown[];
    /** Runs a statement that returns none. */
    run(...values: never[]): unknown;
  };
}

/** The storage of a Durable Object, `ctx.storage`. It refuses the statement `begin` and has transactions by a call. */
export interface DurableObjectDatabase {
  /** Runs statements. */
  readonly sql: {
    /** Runs a statement with its values in order. */
    exec(
      sql: string,
      ...values: never[]
    ): {
      /** Returns all rows. */
      toArray(): unknown[];
    };
  };
  /** Runs work in a transaction, which ends without any change if the work throws. */
  transactionSync<T>(work: () => T): T;
}

/** The limits of Durable Objects and of D1. */
export const CLOUDFLARE_LIMITS: StatementLimits = { maxParameters: 100, maxRowBytes: 2_000_000 };

/** A synchronous connection to SQLite. */
export type SqliteHandle = SqliteConnection | DurableObjectDatabase;

export function isSqliteHandle(value: unknown): value is SqliteHandle {
  const { prepare, sql, transactionSync } = Object(value) as Partial<
    SqliteConnection & DurableObjectDatabase
  >;
  if (typeof prepare === 'function') return true;
  return typeof sql?.exec === 'function' && typeof transactionSync === 'function';
}
