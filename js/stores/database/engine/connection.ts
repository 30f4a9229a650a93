/** A connection to a database, or a pool of them, and how transactions run on it. */
import type { StorageCall } from '../../../values/model/diagnostic.js';
import type { Steps } from './prepared.js';
import type { Waits } from './waits.js';

/** The statements that begin a transaction. */
export interface Begin {
  /**
   * On servers the isolation level is read committed. A read after a lock then sees what the row's last writer
   * left. MariaDB also locks no gaps, which would cause deadlocks.
   */
  readonly write: readonly string[];
  /** All reads see one snapshot. */
  readonly read: readonly string[];
}

/** The kinds of transactions. They differ in how they begin. */
export type Mode =
  | keyof Begin
  /** A transaction that creates tables. The server's own limits and durability hold for it. */
  | 'createTables'
  /** No transaction: each statement is committed by itself. */
  | 'autocommit';

/** What follows a failed attempt. */
export interface AttemptPolicy {
  /**
   * Waits after a failed attempt until the next one may begin.
   *
   * @param mode that of the attempt: only a write waits for row locks
   * @throws SessionError (as a rejection) what the error means, if another attempt would fail too
   */
  pause(error: unknown, mode: Mode): Promise<void>;
}

/**
 * Runs steps in one transaction, and retries them as {@link AttemptPolicy} say. Returns no promise if the connection is
 * synchronous and the first attempt succeeds.
 *
 * There are three runners of the same steps. SQLite answers at once, and a promise for each of its statements would cost
 * more than the statement. A server answers later, and its runner takes a connection from a pool and gives it back.
 * A database without transactions across calls gets all changes in one list, with guards of what was read.
 *
 * @throws SessionError what `work` threw, or what the driver's error means
 */
export type TransactionRunner = <T>(
  mode: Mode,
  work: () => Steps<T>,
  call: StorageCall,
  retries?: AttemptPolicy,
) => T | Promise<T>;

/** Options for a database that we open ourselves. */
export interface ConnectOptions {
  readonly durability: 'strict' | 'relaxed';
  /** Passed to the driver beside the address. */
  readonly driverOptions: object;
  readonly waits: Waits;
  /** Called with the driver's error if the pool loses a connection that no call uses. */
  readonly onLost: (error: unknown) => void;
}

/** The limits of a database's statements. */
export interface StatementLimits {
  /** The most values of one statement. */
  readonly maxParameters: number;
  /** The most bytes of one row or value. */
  readonly maxRowBytes: number;
}

/** A connection, or a pool of them. */
export interface Connection {
  readonly run: TransactionRunner;
  /** The limits of its statements, if they are lower than the engine's. */
  readonly limits?: StatementLimits | undefined;
  /**
   * Switches the file to a write-ahead log. Called only after its tables were accepted, so a refused file
   * stays unchanged.
   */
  readonly useWriteAheadLog?: () => Promise<void>;
  /** Fails if the database's file was deleted or replaced. SQLite itself does not notice that. */
  readonly requireFile?: () => void;
  /** Ends the connections. Those of a user's Kysely stay open. */
  readonly close: () => Promise<void>;
}
