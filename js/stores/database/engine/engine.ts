import type {
  ColumnDataType,
  Dialect,
  Expression,
  QueryExecutorProvider,
  RawBuilder,
  SelectQueryBuilder,
} from 'kysely';
import type { Begin, Connection, ConnectOptions } from './connection.js';
import type { Steps } from './prepared.js';

/** The engines, by their names in `service.storage.kind`. */
export type EngineKind = 'sqlite' | 'postgresql' | 'mysql';

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
  /** A text of any length that is compared byte by byte. Python has no such column. */
  readonly text: ColumnType;
  readonly time: ColumnType;
  readonly word: ColumnType;
  readonly bytes: ColumnType;
}

/** The statements that keep others from creating tables meanwhile. */
export interface CreationLock {
  /** Returns one row, whose `locked` is 1 if the lock was taken. */
  readonly acquire: RawBuilder<{ locked: unknown }>;
  readonly release: RawBuilder<unknown>;
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

/** The parts of an index. Its table has no prefix yet, its name has. */
export interface IndexParts {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  /** The condition of a partial index. */
  readonly where?: RawBuilder<boolean> | undefined;
}

/**
 * One of the products that an engine stands for: MariaDB and MySQL have the same driver, but not the same
 * collations. Only MariaDB is tested.
 */
export interface Product {
  /** The collation that compares ids exactly. Empty if the types of the columns say all that is needed. */
  readonly collation: string;
  /** Builds an index while others write to the table. Must not run within a transaction. */
  readonly buildIndex: (index: IndexParts) => RawBuilder<unknown>;
  /** A comment for operators who run the statements of `buildIndex` again; empty if they may. */
  readonly indexAdvice: string;
}

/** The service that made the tables: one of Python's, or that of `@google/adk`. */
export type TableMaker = 'DatabaseSessionService' | 'SqliteSessionService' | '@google/adk';

/** The tables that an engine checks or indexes. */
export interface EngineTables {
  /** Puts the tables' names into every query that is built with it. */
  readonly database: QueryExecutorProvider;
  readonly names: TableNames;
}

/** A query that selects rows. */
type Select<DB, Table extends keyof DB, Row> = SelectQueryBuilder<DB, Table, Row>;

/** How an engine begins transactions, and what it locks. */
export interface EngineTransactions {
  /** The statements that begin a transaction. */
  readonly begin: Begin;
  /**
   * Whether {@link EngineTransactions.lock} locks rows. If not, the begin locks the whole database: there is one
   * writer.
   */
  readonly locksRows: boolean;
  /** Whether a write that inserts a missing row makes others wait that insert it too. */
  readonly locksByInsert: boolean;
  /**
   * Locks the rows of a query until the transaction ends. Without locks, guards are checked at the commit.
   *
   * @param skipsLocked leaves out rows that others have locked
   */
  readonly lock: <DB, Table extends keyof DB, Row>(
    query: Select<DB, Table, Row>,
    skipsLocked?: boolean,
  ) => Select<DB, Table, Row>;
  /**
   * Whether sessions are locked alone, before anything else. On MariaDB that lock may hold a row that was just deleted,
   * and then blocks a create that inserts it and may hold the app.
   */
  readonly locksSessionsAlone: boolean;
  /** Absent if a statement that creates a table is part of the transaction. */
  readonly creationLock: CreationLock | undefined;
  /** The error of a rollback without a transaction; `undefined` if that is no error. */
  readonly noTransaction: RegExp | undefined;
}

/** How queries of an engine read and write rows, times and JSON. */
export interface EngineQueries {
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
  /** The most values of one statement. A connection may allow less: see `Connection.limits`. */
  readonly maxParameters: number;
  /** The most bytes of one row or value; `undefined` if there is no limit worth a check. */
  readonly maxRowBytes: number | undefined;
  /** Asks how many bytes a statement may have; `undefined` if there is no limit worth a check. */
  readonly packetBytes: RawBuilder<{ bytes: number | string }> | undefined;
  /** Is above 0 if a column of {@link ColumnTypes.text} contains a text, else 0. */
  readonly placeIn: (column: ColumnExpression, text: string) => RawBuilder<number>;
  /** Returns bytes as the driver takes them. Only drivers that run in Node alone may need a `Buffer`. */
  readonly bytes: (bytes: Uint8Array) => Uint8Array;
  /** Whether JSON columns refuse U+0000. */
  readonly refusesNul: boolean;
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
  /** Inserts a row unless its key is there. @param into the rest of the statement, from `into` on */
  readonly insertIfAbsent: (into: RawBuilder<unknown>) => RawBuilder<unknown>;
}

/** What the planner of an engine does with indexes. */
export interface EngineIndexes {
  /**
   * Returns a column with the same value that no index serves. Otherwise the planner may take a long session for a
   * short one, and would then search all events of the session.
   */
  readonly withoutIndex: (column: ColumnExpression) => ColumnExpression;
  /** Whether an index may hold only the rows of a condition. */
  readonly hasPartialIndices: boolean;
  /** Whether a page beside an event has to name the whole range of the index, so that the rows are read by it. */
  readonly pagesByRange: boolean;
  /** The statistics of the planner. Absent if it needs none to find a session by its whole key. */
  readonly statistics?: PlannerStatistics | undefined;
  /** Builds a missing index while others write; `undefined` if that would lock the whole database. */
  readonly buildOnline: ((tables: EngineTables, index: IndexParts) => Steps<void>) | undefined;
}

/** How the planner learns how many rows the tables have. */
export interface PlannerStatistics {
  /** The condition that it knows nothing of a table. */
  readonly isUnknown: (table: RawBuilder<unknown>) => RawBuilder<boolean>;
  /** Makes the statement by which it learns that of tables, unless another has them locked. */
  readonly gather: (tables: RawBuilder<unknown>) => RawBuilder<unknown>;
}

/** What an engine's errors mean. */
export interface EngineErrors {
  /** Returns the code in a driver's error. Failures on this side of the connection have none. */
  readonly codeOf: (error: unknown) => string | undefined;
  /** Returns the failure that a driver's error code means. */
  readonly failureOfCode: (code: string) => Failure;
  /** The codes of the engine's own refusals. All other codes come from this side of the connection. */
  readonly refusalCode: RegExp;
  /** The codes of the engine's own errors after which the server may have stopped; `undefined` if it has none. */
  readonly crashCode: RegExp | undefined;
  /** Whether the server closes the connection after this error of an unknown code. */
  readonly closesConnection: (error: unknown) => boolean;
}

/** How an engine makes and checks tables. */
export interface TableRules {
  /** The types of the columns. @param collation that of the {@link Product} */
  readonly columnTypes: (collation: string) => ColumnTypes;
  /** Ends the statement that creates a table whose long rows are scanned. Absent if the engine stores them as they are. */
  readonly longRows?: RawBuilder<unknown> | undefined;
  /** Whether the columns limit the length of ids, and hold no NUL in them. */
  readonly limitsIds: boolean;
  /**
   * Whether the keys between tables are enforced on every connection. If not, rows of a deleted session may be left.
   */
  readonly enforcesKeys: boolean;
  readonly catalog: Catalog;
  /** The product that a scheme of an address names, or a version of the database. */
  readonly productOf: (schemeOrVersion: string) => Product;
  /** Asks for the version of the database; `undefined` if there is only one product. */
  readonly version: RawBuilder<{ version: string }> | undefined;
  /** Tells by the type of a column of Python's tables who made it; `undefined` if it does not tell. */
  readonly makerOf: (column: TableColumn) => TableMaker | undefined;
  /**
   * Checks that the columns of the ids compare them exactly, and for writing that no column loses data. Other programs
   * may have made the tables with another collation: `ada` would then read and delete the sessions of `ADA`.
   *
   * @param columns the columns of Python's tables
   * @param use `readOfAdk` is for the tables of `@google/adk`, whose columns have other types
   * @throws SessionError `storage_unavailable`, with the statements that correct the tables if there are any
   */
  readonly checkColumns: (
    tables: EngineTables,
    columns: readonly TableColumn[],
    use: 'read' | 'readOfAdk' | 'write',
  ) => Steps<void>;
  /**
   * Requires that texts arrive as they are written. Absent if the connection has no mode that changes them.
   *
   * @throws SessionError `storage_unavailable`
   */
  readonly checkTexts: ((database: QueryExecutorProvider) => Steps<void>) | undefined;
}

/**
 * The differences between the engines. All other SQL is the same, and no code outside of `engines/` asks which engine
 * it has. Only the forms of addresses and the rules of options stand in `address.ts`: they are checked without Kysely.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** The name in messages. */
  readonly name: string;
  /** The package of the driver, which users install. */
  readonly driver: string;
  /** Whether the database is a file. The messages of errors then speak of the disk. */
  readonly isFile: boolean;
  /** Opens the file, or makes the pool that will connect. @param location the path or the URL of an `Address` */
  readonly connect: (location: string, options: ConnectOptions) => Promise<Connection>;
  /** Kysely's parts that write this dialect of SQL. Its driver is not used: `connect` opens the connections. */
  readonly dialect: Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>;
  /** What reads the tables of `@google/adk`'s own service, whose columns have other types. */
  readonly ofAdk: Partial<Pick<EngineQueries, 'time' | 'json' | 'eventOrder'>>;
  /** The driver's options for a database that is only read. */
  readonly readOnlyOptions: object;
  readonly transactions: EngineTransactions;
  readonly queries: EngineQueries;
  readonly indexes: EngineIndexes;
  readonly tables: TableRules;
  readonly errors: EngineErrors;
}

// The columns of a database, and the names of its tables.

/** The schema of the tables, and the prefix of their names. */
export interface TableNames {
  readonly schema: string | undefined;
  readonly prefix: string;
}

/** A column of the database. */
export interface TableColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** The collation, if the engine reports one. SQLite reports none. */
  readonly collation: string | null;
}

export const isTime = (name: string) => ['timestamp', 'create_time', 'update_time'].includes(name);
export const isText = (name: string) => name === 'state' || name === 'event_data';
export const isId = ({ name }: TableColumn) =>
  ['app_name', 'user_id', 'session_id', 'id'].includes(name);

/** Returns a table's full name for statements that are shown to people. */
export function fullName({ schema, prefix }: TableNames, table: string, quote: '"' | '`'): string {
  const name = `${quote}${prefix}${table}${quote}`;
  return schema === undefined ? name : `${quote}${schema}${quote}.${name}`;
}
