import { type Expression, type RawBuilder, sql } from 'kysely';

/** The engines, by the name that `service.storage.kind` has. */
export type EngineKind = 'sqlite' | 'postgresql' | 'mysql';

/** A time as a column has it. */
export type StoredTime = string | number;

/** A column of a query, or what a query makes of it. */
type Column = Expression<unknown>;

/** What a failure means for the transaction that it ended. */
export type Failure =
  /** Somebody else was first: the transaction may be run again. */
  | 'conflict'
  /** A row of that key was inserted meanwhile, or a table made: the next run finds it. */
  | 'duplicate'
  /** A statement took longer than it may. */
  | 'slow'
  | 'full'
  | 'lost'
  /** The database only reads. */
  | 'readonly'
  | 'unreachable'
  /** The certificate is not one that the caller trusts. */
  | 'untrusted'
  /** The caller asks for TLS, and the server has none. */
  | 'noTls'
  | 'other';

/** Where one engine differs from another. Everything else is the same SQL. */
export interface Engine {
  readonly kind: EngineKind;
  /**
   * What begins a transaction that writes. Read committed on servers: what is read after a row was
   * locked is then what its last writer left, and MySQL locks no gaps, which would be deadlocks.
   */
  readonly beginWrite: readonly string[];
  /** What begins one that reads: all of it sees one moment. */
  readonly beginRead: readonly string[];
  /** Whether rows are locked by `FOR UPDATE`; else the beginning locks the whole database. */
  readonly locksRows: boolean;
  /** Whether `FOR UPDATE` may lock a row that was just deleted, so that nobody can insert it again. */
  readonly locksDeletedRows: boolean;
  /** What events are ordered by: their coming, as far as the engine knows it, else as Python orders them. */
  readonly eventOrder: readonly Column[];
  /** A JSON column as text. */
  readonly json: (column: Column) => RawBuilder<string>;
  /** A time column as text, or as the number that it is. */
  readonly time: (column: Column) => RawBuilder<StoredTime>;
  /**
   * Whether the JSON of an event may say of its `timestamp` that it is so many seconds since 1970, or
   * later. It may also be that it says none, or not as Python does, and that is for whoever reads it.
   */
  readonly mayBeSince: (json: Column, seconds: Column) => RawBuilder<boolean>;
  /** What an error of the driver means, by its code. */
  readonly failureOf: (code: string) => Failure;
}

/** By what the codes begin with; the longest entry that fits says it. */
function failures(table: Readonly<Partial<Record<Failure, string>>>) {
  const known = Object.entries(table).flatMap(([failure, codes]) =>
    codes.split(' ').map((code): [string, Failure] => [code, failure as Failure]),
  );
  known.sort(([one], [other]) => other.length - one.length);
  return (code: string): Failure => known.find(([start]) => code.startsWith(start))?.[1] ?? 'other';
}

/** What Node says when there is no way to a server, and when the way broke off. */
const NO_WAY = 'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT ENOENT';
const BROKEN_OFF = 'ECONNRESET EPIPE';

/** What it says of a certificate. */
const UNTRUSTED =
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_ CERT_ ERR_TLS_CERT_ALTNAME_INVALID';

const BY_TIME = [sql.ref('events.timestamp'), sql.ref('id')];

const SQLITE: Engine = {
  kind: 'sqlite',
  beginWrite: ['begin immediate'],
  beginRead: ['begin'],
  locksRows: false,
  locksDeletedRows: false,
  eventOrder: [sql`rowid`],
  json: (column) => sql<string>`${column}`,
  time: (column) => sql<StoredTime>`${column}`,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when json_valid(${json}) and json_type(${json}, '$.timestamp') in ('integer', 'real')
      then json_extract(${json}, '$.timestamp') not between 0 and ${seconds} else 1 end`,
  failureOf: failures({
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
  beginWrite: ['begin isolation level read committed'],
  beginRead: ['begin isolation level repeatable read, read only'],
  locksRows: true,
  locksDeletedRows: false,
  eventOrder: BY_TIME,
  json: (column) => sql<string>`cast(${column} as text)`,
  // As text, for the driver would take it for local time, and to the millisecond.
  time: (column) => sql<string>`to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when jsonb_typeof(${json} -> 'timestamp') = 'number'
      then (${json} ->> 'timestamp')::numeric not between 0 and cast(${seconds} as numeric) else true end`,
  failureOf: failures({
    conflict: '40001 40P01 CR000 55P03',
    duplicate: '23505 42P07',
    slow: '57014',
    full: '53100',
    // 40003: whether the commit was done is not known.
    lost: `08 40003 57P01 57P02 57P05 25P03 25P04 ${BROKEN_OFF}`,
    readonly: '25006',
    // A violation of the protocol, which another try repeats.
    other: '08P01',
    untrusted: UNTRUSTED,
    unreachable: `28 3D000 3F000 42501 53300 57P03 08001 08004 ${NO_WAY}`,
  }),
};

const MYSQL: Engine = {
  kind: 'mysql',
  beginWrite: ['set transaction isolation level read committed', 'start transaction'],
  beginRead: [
    'set transaction isolation level repeatable read',
    'start transaction with consistent snapshot, read only',
  ],
  locksRows: true,
  locksDeletedRows: true,
  eventOrder: BY_TIME,
  json: (column) => sql<string>`${column}`,
  time: (column) => sql<string>`cast(${column} as char)`,
  mayBeSince: (json, seconds) =>
    sql<boolean>`case when json_valid(${json}) and json_type(json_extract(${json}, '$.timestamp')) in ('INTEGER', 'DOUBLE', 'DECIMAL')
      then json_extract(${json}, '$.timestamp') + 0 not between 0 and ${seconds} else true end`,
  failureOf: failures({
    conflict: 'ER_LOCK_DEADLOCK ER_LOCK_WAIT_TIMEOUT ER_CHECKREAD ER_TABLE_DEF_CHANGED',
    duplicate: 'ER_DUP_ENTRY ER_DUP_KEYNAME ER_TABLE_EXISTS_ERROR',
    slow: 'ER_STATEMENT_TIMEOUT ER_QUERY_TIMEOUT ER_QUERY_INTERRUPTED',
    full: 'ER_DISK_FULL ER_RECORD_FILE_FULL ER_ENGINE_OUT_OF_MEMORY',
    lost: `PROTOCOL_ ER_ERROR_DURING_COMMIT ER_SERVER_SHUTDOWN ER_CONNECTION_KILLED ER_NEW_ABORTING ${BROKEN_OFF}`,
    readonly:
      'ER_OPTION_PREVENTS_STATEMENT ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION ER_READ_ONLY_MODE',
    untrusted: `HANDSHAKE_SSL_ERROR ${UNTRUSTED}`,
    noTls: 'HANDSHAKE_NO_SSL_SUPPORT',
    unreachable: `ER_ACCESS_DENIED ER_DBACCESS_DENIED ER_TABLEACCESS_DENIED ER_BAD_DB ER_CON_COUNT ER_NOT_SUPPORTED_AUTH ER_HOST ${NO_WAY}`,
  }),
};

export const ENGINES: Readonly<Record<EngineKind, Engine>> = {
  sqlite: SQLITE,
  postgresql: POSTGRESQL,
  mysql: MYSQL,
};
