// A driver of a database that takes a list of statements at once. It is checked before Kysely is loaded.

import type { StatementLimits } from './connection.js';

/** A statement of SQL with the values of its parameters. */
export interface SqlStatement {
  /** Its parameters are `?` in SQLite, and `$1` in PostgreSQL. */
  readonly sql: string;
  /** Texts, numbers, `null`, and the bytes of files: at most a MiB each, and no `Buffer`. */
  readonly values: readonly (string | number | null | Uint8Array)[];
}

/**
 * Sends lists of statements to a database, such as one behind HTTP. No transaction stays open between two calls. Another
 * program may write in between; the service then reads and decides again.
 */
export interface OptimisticDriver {
  /**
   * Runs statements that only read, in one transaction that sees one state. Returns the rows of each, as objects. Bytes
   * in them are a `Uint8Array`, an `ArrayBuffer` or an array of numbers.
   */
  read(statements: readonly SqlStatement[]): Promise<readonly (readonly object[])[]>;
  /**
   * Runs the guards and then the statements in one serializable transaction. A guard fails if others have changed what
   * the write has read: it inserts a row whose column `value` is NULL, which the column refuses.
   *
   * An error with the database's own `code` says that nothing is written. Without one, the write may be stored.
   *
   * @returns `false`, with nothing written, if a guard failed or a key exists. The write is then repeated
   */
  commit(guards: readonly SqlStatement[], statements: readonly SqlStatement[]): Promise<boolean>;
  /** The limits of a statement, if they are lower than those of the engine. */
  readonly limits?: StatementLimits | undefined;
}

export function isOptimisticDriver(value: unknown): value is OptimisticDriver {
  const { read, commit } = Object(value) as Partial<OptimisticDriver>;
  return typeof read === 'function' && typeof commit === 'function';
}
