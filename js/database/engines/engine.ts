import type { ColumnDataType, Dialect, Expression, RawBuilder } from 'kysely';

/** The engines whose database is a file. */
export type FileKind = 'sqlite';

/** The engines whose database is on a server. */
export type ServerKind = 'postgresql' | 'mysql';

/**
 * The engines, by their names in `service.storage.kind`.
 *
 * @example
 * ```ts
 * import { DatabaseSessionService, type EngineKind } from 'adk-session-wasm/database';
 *
 * const service = new DatabaseSessionService('mariadb://ada@127.0.0.1/agents');
 * const kind = service.storage.kind as EngineKind; // 'mysql'
 * await service.close();
 * ```
 */
export type EngineKind = FileKind | ServerKind;

/** A time as a column stores it. */
export type StoredTime = string | number;

/** A column of a query, or an expression. */
type ColumnExpression = Expression<unknown>;

/** The kinds of failure of a transaction. */
export type Failure =
  /** Another transaction was first. This one may be run again. */
  | 'conflict'
  /** Somebody else inserted a row with the key, or made the table. The next run finds it. */
  | 'duplicate'
  /** A statement exceeded its time limit. */
  | 'slow'
  | 'full'
  /** A statement is longer than the server accepts, or a value larger. */
  | 'tooLarge'
  /** The connection broke before a commit was sent. */
  | 'lost'
  /** The connection broke after a commit was sent, so the write may be stored. */
  | 'commitLost'
  /** The database is read-only. */
  | 'readonly'
  | 'unreachable'
  /** All connections of the pool or of the server are in use. */
  | 'exhausted'
  /** The server's certificate is not trusted. */
  | 'untrusted'
  /** The caller asks for TLS, but the server has none. */
  | 'noTls'
  /** The server does not know a statement: it is of an older version, or another product. */
  | 'unsupported'
  | 'other';

/** The type of a column. */
export type ColumnType = RawBuilder<unknown> | ColumnDataType;

/** The types of the columns, those of Python's `DatabaseSessionService`. */
export interface ColumnTypes {
  readonly id: ColumnType;
  readonly invocationId: ColumnType;
  readonly json: ColumnType;
  readonly time: ColumnType;
  readonly word: ColumnType;
}

/** The statements that begin a transaction. */
export interface Begin {
  /**
   * On servers the isolation level is read committed. A read after a lock then sees what the row's last writer
   * left. MySQL also locks no gaps, which would cause deadlocks.
   */
  readonly write: readonly string[];
  /** All reads see one snapshot. */
  readonly read: readonly string[];
}

/**
 * The differences between the engines that several files need, or that are one value. Any other
 * difference stands where it matters, by `kind`. All other SQL is the same.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** The name in messages. */
  readonly name: string;
  /** The package of the driver, which users install. */
  readonly driver: string;
  /** Kysely's parts for this dialect of SQL. */
  readonly dialect: Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>;
  /** The types of the columns. On MySQL and MariaDB the ids get `collation`, which compares them exactly. */
  readonly columnTypes: (collation: string) => ColumnTypes;
  /** The statements that begin a transaction. */
  readonly begin: Begin;
  /** Whether `FOR UPDATE` locks rows. If not, the begin locks the whole database: there is one writer. */
  readonly locksRows: boolean;
  /** The columns that order events: the time, and the column that orders events of one time. */
  readonly eventOrder: readonly [time: ColumnExpression, tie: ColumnExpression];
  /** Converts a JSON column to text. */
  readonly json: (column: ColumnExpression) => RawBuilder<string>;
  /** Converts a time column to text, or to the number that it holds. */
  readonly time: (column: ColumnExpression) => RawBuilder<StoredTime>;
  /**
   * The condition that an event's JSON may have a `timestamp` of at least this many seconds since 1970. Also
   * true if the JSON has no such timestamp in Python's form; the reader then decides.
   */
  readonly mayBeSince: (json: ColumnExpression, seconds: ColumnExpression) => RawBuilder<boolean>;
  /** Returns the failure that a driver's error code means. */
  readonly failureOfCode: (code: string) => Failure;
  /** The codes of the engine's own refusals. All other codes come from this side of the connection. */
  readonly refusalCode: RegExp;
}
