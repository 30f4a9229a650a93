import { type Expression, type RawBuilder, sql } from 'kysely';

/** The engines, by their names in `service.storage.kind`. */
export type EngineKind = 'sqlite' | 'postgresql' | 'mysql';

/** A time as a column stores it. */
export type StoredTime = string | number;

/** A column of a query, or an expression. */
type Column = Expression<unknown>;

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

/** The differences between the engines. All other SQL is the same. */
export interface Engine {
  readonly kind: EngineKind;
  /** The name in messages. */
  readonly name: string;
  /**
   * The statements that begin a writing transaction. On servers its isolation level is read committed. A read
   * after a lock then sees what the row's last writer left. MySQL also locks no gaps, which would cause
   * deadlocks.
   */
  readonly beginWrite: readonly string[];
  /** The statements that begin a reading transaction. All its reads see one snapshot. */
  readonly beginRead: readonly string[];
  /** Whether `FOR UPDATE` locks rows. If not, the begin locks the whole database. */
  readonly locksRows: boolean;
  /** Whether `FOR UPDATE` may lock a row that was just deleted, so that nobody can insert it again. */
  readonly locksDeletedRows: boolean;
  /** Whether `json_to_recordset` makes rows of a JSON text, so that one statement serves any number of keys. */
  readonly readsJsonRows: boolean;
  /** The columns that order events: append order if the engine knows it, else Python's order. */
  readonly eventOrder: readonly Column[];
  /** Converts a JSON column to text. */
  readonly json: (column: Column) => RawBuilder<string>;
  /** Converts a time column to text, or to the number that it holds. */
  readonly time: (column: Column) => RawBuilder<StoredTime>;
  /**
   * The condition that an event's JSON may have a `timestamp` of at least this many seconds since 1970. Also
   * true if the JSON has no such timestamp in Python's form; the reader then decides.
   */
  readonly mayBeSince: (json: Column, seconds: Column) => RawBuilder<boolean>;
  /** Returns the failure that a driver's error code means. */
  readonly failureOfCode: (code: string) => Failure;
}

/** Maps codes to failures by the codes' first characters. The longest matching entry decides. */
function failures(table: Readonly<Partial<Record<Failure, string>>>) {
  const known = Object.entries(table).flatMap(([failure, codes]) =>
    codes.split(' ').map((code): [string, Failure] => [code, failure as Failure]),
  );
  known.sort(([one], [other]) => other.length - one.length);
  return (code: string): Failure => known.find(([start]) => code.startsWith(start))?.[1] ?? 'other';
}

/** Node's codes when the server cannot be reached, and when the connection breaks. */
const NO_WAY = 'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT ENOENT';
const BROKEN_OFF = 'ECONNRESET EPIPE';

/** Node's codes for a certificate that is not trusted. */
const UNTRUSTED =
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_ CERT_ ERR_TLS_CERT_ALTNAME_INVALID';

const BY_TIME = [sql.ref('events.timestamp'), sql.ref('id')];

const SQLITE: Engine = {
  kind: 'sqlite',
  name: 'SQLite',
  beginWrite: ['begin immediate'],
  beginRead: ['begin'],
  locksRows: false,
  locksDeletedRows: false,
  readsJsonRows: false,
  eventOrder: [sql`rowid`],
  json: (column) => sql<string>`${column}`,
  time: (column) => sql<StoredTime>`${column}`,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when json_valid(${json}) and json_type(${json}, '$.timestamp') in ('integer', 'real')
      then json_extract(${json}, '$.timestamp') not between 0 and ${seconds} else 1 end`,
  failureOfCode: failures({
    conflict: 'SQLITE_BUSY SQLITE_LOCKED',
    duplicate: 'SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_UNIQUE',
    full: 'SQLITE_FULL SQLITE_IOERR_WRITE',
    lost: 'SQLITE_IOERR',
    readonly: 'SQLITE_READONLY',
    unreachable: 'SQLITE_CANTOPEN SQLITE_NOTADB SQLITE_PERM SQLITE_AUTH',
  }),
};

const POSTGRESQL: Engine = {
  kind: 'postgresql',
  name: 'PostgreSQL',
  beginWrite: ['begin isolation level read committed'],
  beginRead: ['begin isolation level repeatable read, read only'],
  locksRows: true,
  locksDeletedRows: false,
  readsJsonRows: true,
  eventOrder: BY_TIME,
  json: (column) => sql<string>`cast(${column} as text)`,
  // As text, since the driver would read the column as local time in milliseconds.
  time: (column) => sql<string>`to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when jsonb_typeof(${json} -> 'timestamp') = 'number'
      then (${json} ->> 'timestamp')::numeric not between 0 and cast(${seconds} as numeric) else true end`,
  failureOfCode: failures({
    conflict: '40001 40P01 CR000 55P03',
    duplicate: '23505 42P07',
    slow: '57014',
    full: '53100',
    // 40003: it is unknown whether the transaction was committed.
    lost: `08 40003 57P01 57P02 57P05 25P03 25P04 ${BROKEN_OFF}`,
    readonly: '25006',
    unsupported: '0A000 42601 42883',
    // A violation of the protocol, which a retry would repeat.
    other: '08P01',
    untrusted: UNTRUSTED,
    exhausted: '53300',
    unreachable: `28 3D000 3F000 42501 57P03 08001 08004 ${NO_WAY}`,
  }),
};

const MYSQL: Engine = {
  kind: 'mysql',
  name: 'MySQL or MariaDB',
  beginWrite: ['set transaction isolation level read committed', 'start transaction'],
  beginRead: [
    'set transaction isolation level repeatable read',
    'start transaction with consistent snapshot, read only',
  ],
  locksRows: true,
  locksDeletedRows: true,
  readsJsonRows: false,
  eventOrder: BY_TIME,
  json: (column) => sql<string>`${column}`,
  time: (column) => sql<string>`cast(${column} as char)`,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when json_valid(${json}) and json_type(json_extract(${json}, '$.timestamp')) in ('INTEGER', 'DOUBLE', 'DECIMAL')
      then json_extract(${json}, '$.timestamp') + 0 not between 0 and ${seconds} else true end`,
  failureOfCode: failures({
    conflict: 'ER_LOCK_DEADLOCK ER_LOCK_WAIT_TIMEOUT ER_CHECKREAD ER_TABLE_DEF_CHANGED',
    duplicate: 'ER_DUP_ENTRY ER_DUP_KEYNAME ER_TABLE_EXISTS_ERROR',
    slow: 'ER_STATEMENT_TIMEOUT ER_QUERY_TIMEOUT ER_QUERY_INTERRUPTED',
    full: 'ER_DISK_FULL ER_RECORD_FILE_FULL ER_ENGINE_OUT_OF_MEMORY',
    lost: `PROTOCOL_ ER_ERROR_DURING_COMMIT ER_SERVER_SHUTDOWN ER_CONNECTION_KILLED ER_NEW_ABORTING ${BROKEN_OFF}`,
    readonly:
      'ER_OPTION_PREVENTS_STATEMENT ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION ER_READ_ONLY_MODE',
    unsupported: 'ER_PARSE_ERROR ER_NOT_SUPPORTED_YET',
    untrusted: `HANDSHAKE_SSL_ERROR ${UNTRUSTED}`,
    noTls: 'HANDSHAKE_NO_SSL_SUPPORT',
    exhausted: 'ER_CON_COUNT',
    unreachable: `ER_ACCESS_DENIED ER_DBACCESS_DENIED ER_TABLEACCESS_DENIED ER_BAD_DB ER_NOT_SUPPORTED_AUTH ER_HOST ${NO_WAY}`,
  }),
};

/** The engines by kind. */
export const ENGINES: Readonly<Record<EngineKind, Engine>> = {
  sqlite: SQLITE,
  postgresql: POSTGRESQL,
  mysql: MYSQL,
};
