/**
 * The two layouts that google-adk Python has for its tables. A SQLite file has one of them. Servers only have
 * the first, which is also the layout of tables that we create.
 *
 * A third layout belongs to the `DatabaseSessionService` of `@google/adk`. It has the same tables with times
 * in milliseconds. It can only be read: two changes of a session within a millisecond would get the same
 * time.
 *
 * | | `DatabaseSessionService`, schema version 1 | `SqliteSessionService`, the `adk` command's |
 * |---|---|---|
 * | times | text to the microsecond | seconds, as a REAL |
 * | metadata of the database | a table `adk_internal_metadata` | none; ours are in a table of our own |
 * | events of one time are ordered by | their ids | their places in the table |
 * | a state's key is changed by | Python, which writes the whole state | SQLite's JSON functions |
 * | Python takes a session for stale if | `update_time` differs | `update_time` is later |
 *
 * A file has only one layout. Either of Python's services opens the other's files too, and leaves rows in
 * them that the other cannot read.
 */
import { sql } from 'kysely';
import { toSeconds } from '../../../values/python/time.js';
import { microsToTimeText, millisecondsToTimeText } from '../../../values/python/micros.js';
import type { Engine, EngineQueries, StoredTime, TableMaker } from '../engine/engine.js';

/** The differences between the layouts. */
export interface Layout {
  /** The service that the tables belong to. */
  readonly service: TableMaker;
  /** The table for metadata of the whole database. */
  readonly metadata: 'adk_internal_metadata' | 'adk_session_wasm_metadata';
  /** Converts microseconds since 1970 to the value of a time column. */
  readonly time: (micros: number) => StoredTime;
  /** Converts milliseconds to the value of a time column, to the microsecond. */
  readonly timeOf: (milliseconds: number) => StoredTime;
  /**
   * Whether Python changes a state by SQLite's JSON functions. They end a text at U+0000, so a state must not
   * contain it; see `checkMergeable`.
   */
  readonly mergesInSql: boolean;
  /** The JavaScript type of the times of Python's other layout, whose rows a SQLite file may have too. */
  readonly otherTime?: 'number' | 'string' | undefined;
  /** Returns the engine with the changes that tables of this layout need, if they need any. */
  readonly engineOf?: (engine: Engine) => Engine;
}

/** The layout of Python's `DatabaseSessionService`. */
export const DATABASE_LAYOUT: Layout = {
  service: 'DatabaseSessionService',
  metadata: 'adk_internal_metadata',
  time: microsToTimeText,
  timeOf: millisecondsToTimeText,
  mergesInSql: false,
  otherTime: 'number',
};

/** Orders the events of one time in a SQLite file by their places in the table. */
const APPEND_ORDER: EngineQueries['eventOrder'] = [sql`events.timestamp`, sql`rowid`];

/**
 * A double of seconds tells every microsecond until `LAST_REVISION` from the next. The division gives the
 * same double that Python has for it. Python's own times are finer: they are read as the nearest microsecond,
 * and the next microsecond is later than both.
 */
export const SQLITE_LAYOUT: Layout = {
  service: 'SqliteSessionService',
  metadata: 'adk_session_wasm_metadata',
  time: (micros) => micros / 1e6,
  timeOf: toSeconds,
  mergesInSql: true,
  otherTime: 'string',
  engineOf: (engine): Engine => {
    const queries: EngineQueries = { ...engine.queries, eventOrder: APPEND_ORDER };
    return { ...engine, queries };
  },
};

/**
 * Times are whole milliseconds: numbers on SQLite, with a time zone on PostgreSQL, cut to seconds on MariaDB. Only the JSON of an event has its exact time on every engine.
 */
export const ADK_LAYOUT: Layout = {
  ...DATABASE_LAYOUT,
  service: '@google/adk',
  otherTime: undefined,
  engineOf: (engine) => ({ ...engine, queries: { ...engine.queries, ...engine.ofAdk } }),
};

/** The layouts, by the service that made the tables. */
export const LAYOUTS: Readonly<Record<TableMaker, Layout>> = {
  DatabaseSessionService: DATABASE_LAYOUT,
  SqliteSessionService: SQLITE_LAYOUT,
  '@google/adk': ADK_LAYOUT,
};
