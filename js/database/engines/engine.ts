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

/** The types of the columns: those of Python's `DatabaseSessionService`, and that of a term. */
export interface ColumnTypes {
  readonly id: ColumnType;
  readonly invocationId: ColumnType;
  readonly json: ColumnType;
  readonly time: ColumnType;
  readonly word: ColumnType;
  /** Compares by code points, so that all terms with one beginning are a range. */
  readonly term: ColumnType;
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
 * The differences between the engines that several files need, or that are one value. A difference of a single
 * file stands there in a record by `EngineKind`, or in a `switch` over it. All other SQL is the same.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** The name in messages. */
  readonly name: string;
  /** The package of the driver, which users install. */
  readonly driver: string;
  /** Kysely's parts for this dialect of SQL. */
  readonly dialect: Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>;
  /** Whether the database is a file. Advice in errors then speaks of a disk, not of a server. */
  readonly isFile: boolean;
  /** The types of the columns. On MySQL and MariaDB the ids get `collation`, which compares them exactly. */
  readonly columnTypes: (collation: string) => ColumnTypes;
  /** Whether the columns limit the length of an id and refuse NUL. */
  readonly limitsIds: boolean;
  /** The reason why a JSON column cannot hold U+0000; `undefined` if it can. */
  readonly refusesNul: string | undefined;
  /** The statements that begin a transaction. */
  readonly begin: Begin;
  /**
   * The statements that keep others from creating the tables too. `undefined` if creating a table is part of a
   * transaction, which then does that.
   */
  readonly creationLock:
    | { readonly acquire: RawBuilder<{ locked: unknown }>; readonly release: RawBuilder<unknown> }
    | undefined;
  /** Whether `FOR UPDATE` locks rows. If not, the begin locks the whole database: there is one writer. */
  readonly locksRows: boolean;
  /**
   * Whether PostgreSQL's `json_to_recordset` makes rows of a JSON text, so that one statement serves any number
   * of keys.
   */
  readonly readsJsonRows: boolean;
  /** The columns that order events: append order if the engine knows it, else Python's order. */
  readonly eventOrder: readonly ColumnExpression[];
  /** Whether {@link Engine.eventOrder} is SQLite's `rowid`: append order, in which each index ends. */
  readonly ordersByRowid: boolean;
  /**
   * Writes a column so that no index serves a condition on it. PostgreSQL's planner may take a long session for
   * a short one. To find an event by its id, it would then search all events of the session.
   */
  readonly withoutIndex: (column: ColumnExpression) => ColumnExpression;
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
