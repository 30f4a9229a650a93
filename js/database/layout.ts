/**
 * The two layouts that google-adk Python has for its tables. On SQLite a file is of either; on servers
 * there is but the first, and it is what we make where there are no tables.
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
import { toSeconds } from '../dialect/time.js';
import { timeText, timeTextOf } from '../dialect/micros.js';

/** A time as a column has it. */
export type StoredTime = string | number;

export interface Layout {
  /** Python's service whose tables these are. */
  readonly service: 'DatabaseSessionService' | 'SqliteSessionService';
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
}

export const DATABASE_LAYOUT: Layout = {
  service: 'DatabaseSessionService',
  metadata: 'adk_internal_metadata',
  time: timeText,
  timeOf: timeTextOf,
  mergesInSql: false,
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
};
