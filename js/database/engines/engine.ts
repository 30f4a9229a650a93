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

/** The statements that keep others from creating tables meanwhile. */
export interface CreationLock {
  /** Returns one row, whose `locked` is 1 if the lock was taken. */
  readonly acquire: RawBuilder<{ locked: unknown }>;
  readonly release: RawBuilder<unknown>;
}

/** A column of the database. */
export interface TableColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** The collation, if the engine reports one. SQLite reports none. */
  readonly collation: string | null;
}

/** The queries of the tables that a database has. */
export interface Catalog {
  /** @param tables a list of names in SQL */
  readonly columns: (
    schema: string | undefined,
    tables: RawBuilder<unknown>,
  ) => RawBuilder<TableColumn>;
  readonly indexNames: (schema: string | undefined) => RawBuilder<{ known: string }>;
}

/** The parts of an index, in SQL. */
export interface IndexParts {
  readonly table: RawBuilder<unknown>;
  readonly name: RawBuilder<unknown>;
  readonly columns: RawBuilder<unknown>;
  /** Whether a server of the kind `mysql` is MariaDB. */
  readonly isMariadb: boolean;
}

/**
 * The differences between the engines. All other SQL is the same. What stands elsewhere by `kind` is a switch or a record
 * over all kinds, so `tsc` names it for a new engine. The rules of its options stand in `address.ts`, because they are
 * checked without Kysely.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** The name in messages. */
  readonly name: string;
  /** The package of the driver, which users install. */
  readonly driver: string;
  /** Kysely's parts that write this dialect of SQL. Its driver is not used: connections are those of `connections/`. */
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
  /** Whether the columns limit the length of ids, and hold no NUL in them. */
  readonly limitsIds: boolean;
  /** Whether JSON columns refuse U+0000. */
  readonly refusesNul: boolean;
  /** Whether the keys between tables are enforced on every connection. If not, rows of a deleted session may be left. */
  readonly enforcesKeys: boolean;
  /** Whether `insert` has `on conflict do nothing`. If not, Kysely writes `on duplicate key update`. */
  readonly hasOnConflict: boolean;
  /**
   * Whether one statement finds or changes the rows of many keys, which come as a JSON array: by `json_to_recordset`,
   * and `lateral`.
   */
  readonly hasJsonRows: boolean;
  /**
   * Whether a statement that converts JSON to text has to order the rows before. The planner of PostgreSQL takes a
   * converted text for a short one. If the session holds much of the table, it would sort the texts instead of reading
   * the rows by their index. A sort returns its first row only after it has read them all.
   */
  readonly ordersBeforeJson: boolean;
  /**
   * Returns a column with the same value that no index serves. Otherwise the planner may take a long session for a
   * short one, and would then search all events of the session.
   */
  readonly withoutIndex: (column: ColumnExpression) => ColumnExpression;
  /** Whether a page beside an event has to name the whole range of the index, so that the rows are read by it. */
  readonly pagesByRange: boolean;
  /**
   * Whether sessions are locked alone, before anything else. On MySQL that lock may hold a row that was just deleted,
   * and then blocks a create that inserts it and may hold the app.
   */
  readonly locksSessionsAlone: boolean;
  readonly catalog: Catalog;
  /** Builds an index while others write to the table. Must not run within a transaction. */
  readonly buildIndex: (parts: IndexParts) => RawBuilder<unknown>;
  /** A comment for operators who run the statements of `buildIndex` again; empty if they may. MariaDB's may. */
  readonly indexAdvice: string;
  /** Inserts a row unless its key is there. @param into the rest of the statement, from `into` on */
  readonly insertIfAbsent: (into: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** What reads the tables of `@google/adk`'s own service, whose columns have other types. */
  readonly ofAdk: Partial<Pick<Engine, 'time' | 'json' | 'eventOrder'>>;
  /** The collations that compare ids exactly. Absent if the types of the columns say all that is needed. */
  readonly exactCollations: { readonly mysql: string; readonly mariadb: string } | undefined;
  /** Whether the connection has a character set and a mode that may change texts on their way. */
  readonly hasTextModes: boolean;
  /** Absent if a statement that creates a table is part of the transaction. */
  readonly creationLock: CreationLock | undefined;
  /** The driver's options for a database that is only read. */
  readonly readOnlyOptions: object;
  /** The codes of the engine's own refusals. All other codes come from this side of the connection. */
  readonly refusalCode: RegExp;
}
