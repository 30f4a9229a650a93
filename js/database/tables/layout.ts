/**
 * The two layouts that google-adk Python has for its tables. On SQLite a file is of either; on servers
 * there is but the first, and it is what we make where there are no tables.
 *
 * A third one, of `@google/adk`'s own `DatabaseSessionService`, has the same tables with times in
 * milliseconds. It can only be read: two changes of a session within a millisecond have one time there.
 *
 * | | `DatabaseSessionService`, schema version 1 | `SqliteSessionService`, the `adk` command's |
 * |---|---|---|
 * | times | text to the microsecond | seconds, as a REAL |
 * | of the whole database | a table `adk_internal_metadata` | nothing; ours stands in a table of ours |
 * | a key of a state is changed by | Python, which writes the whole state | SQLite's JSON functions |
 * | Python holds a session for stale if | `update_time` is another | `update_time` is later |
 *
 * One layout per file: either service of Python's opens the other's files as well, and leaves rows in them
 * that the other cannot read.
 */
import { sql } from 'kysely';
import { toSeconds } from '../../python/time.js';
import { timeText, timeTextOf } from '../../python/micros.js';
import type { Engine, StoredTime } from '../engines/engine.js';

export interface Layout {
  /** The service whose tables these are: one of Python's, or `@google/adk`'s own. */
  readonly service: 'DatabaseSessionService' | 'SqliteSessionService' | '@google/adk';
  /** The table for what is true of the whole database. */
  readonly metadata: 'adk_internal_metadata' | 'adk_session_wasm_metadata';
  /** A time in microseconds since 1970 as a column has it. */
  readonly time: (micros: number) => StoredTime;
  /** The same of milliseconds, to the microsecond. */
  readonly timeOf: (milliseconds: number) => StoredTime;
  /**
   * Whether Python changes a state by SQLite's JSON functions. These end a text at U+0000, which must
   * therefore not get into one; see `checkMergeable`.
   */
  readonly mergesInSql: boolean;
  /** The engine with what is different in tables of this layout. */
  readonly engineOf: (engine: Engine) => Engine;
}

const unchanged = (engine: Engine) => engine;

export const DATABASE_LAYOUT: Layout = {
  service: 'DatabaseSessionService',
  metadata: 'adk_internal_metadata',
  time: timeText,
  timeOf: timeTextOf,
  mergesInSql: false,
  engineOf: unchanged,
};

/**
 * A double holds the seconds of any microsecond until `LAST_REVISION` so that it can be told from the
 * next, and dividing gives the one double that Python has for it too. Python's own times are finer than
 * that; they are read as the nearest microsecond, and the next one is later than both.
 */
export const SQLITE_LAYOUT: Layout = {
  service: 'SqliteSessionService',
  metadata: 'adk_session_wasm_metadata',
  time: (micros) => micros / 1e6,
  timeOf: toSeconds,
  mergesInSql: true,
  engineOf: unchanged,
};

/**
 * Times are whole milliseconds: numbers on SQLite, with a time zone on PostgreSQL, and on MySQL and MariaDB
 * cut to seconds. Only the JSON of an event has the time of that event to the letter everywhere.
 */
export const ADK_LAYOUT: Layout = {
  ...DATABASE_LAYOUT,
  service: '@google/adk',
  engineOf(engine) {
    const { kind, time } = engine;
    if (kind === 'sqlite') return { ...engine, time: (column) => sql`${column} / 1000.0` };
    if (kind === 'mysql') {
      const order = [sql`cast(json_value(event_data, '$.timestamp') as decimal(20, 3))`, sql`id`];
      // The driver would parse a column of the type JSON.
      return { ...engine, json: (column) => sql`concat(${column}, '')`, eventOrder: order };
    }
    return {
      ...engine,
      time: (column) => time(sql`(${column} at time zone 'UTC')`),
      // Events of one millisecond stand in the table as they came.
      eventOrder: [sql`events.timestamp`, sql`ctid`],
    };
  },
};
