import { DummyDriver, Kysely } from 'kysely';
import type { Engine, EngineTables, StoredTime } from '../engine/engine.js';
import { runOnce, type Steps } from '../engine/prepared.js';
import type { Layout } from './layout.js';

/** The columns that begin the key of every row of a user. */
interface UserKeyColumns {
  app_name: string;
  user_id: string;
}

export interface MetadataColumns {
  key: string;
  value: string;
}

/** The tables of google-adk Python, in either layout, and our own beside them. */
export interface Tables {
  /** Only in some layouts; see {@link Layout.metadata}. */
  adk_internal_metadata: MetadataColumns;
  adk_session_wasm_metadata: MetadataColumns;
  sessions: UserKeyColumns & {
    id: string;
    state: string;
    create_time: StoredTime;
    update_time: StoredTime;
  };
  app_states: { app_name: string; state: string; update_time: StoredTime };
  user_states: UserKeyColumns & { state: string; update_time: StoredTime };
  events: UserKeyColumns & {
    id: string;
    session_id: string;
    invocation_id: string;
    timestamp: StoredTime;
    event_data: string | null;
  };
  /**
   * The side table: what a row of `sessions` has no column for. Only sessions that need it have a row. The
   * row's `last_update_time` counts only while its `update_time` equals the session's: a write of Python's
   * changes the latter.
   */
  adk_session_wasm_sessions: UserKeyColumns & {
    session_id: string;
    update_time: StoredTime;
    /**
     * The session's `lastUpdateTime`, if it differs from `update_time`: that had to be later to be a new
     * revision.
     */
    last_update_time: StoredTime;
    /** The revision at which an event was last replaced. Remains valid after Python's writes. */
    replaced_at: StoredTime | null;
  };
  /**
   * The title, labels, parent and initial state of a session. Only sessions that need it have a row. A row counts only
   * while its `create_time` equals the session's: another one belongs to a session that Python has deleted.
   */
  adk_session_wasm_details: UserKeyColumns & {
    session_id: string;
    create_time: StoredTime;
    title: string | null;
    /** The JSON of an object. */
    labels: string | null;
    /** The JSON of a `SessionParent`. */
    parent: string | null;
    /** The JSON of the session's own state as we created it; `null` if Python did. */
    initial_state: string | null;
  };
  /** The words of a session, by which a search finds candidates. Only sessions that a search has read have a row. */
  adk_session_wasm_search: UserKeyColumns & {
    session_id: string;
    /** The `update_time` of the session whose events were read; `null` if none were. */
    revision: StoredTime | null;
    /** As in the details. */
    title: string | null;
    /** 1 if the session was added to the memory, else 0. */
    remembered: number;
    /** The `WORDS_VERSION` of the words. Those of another version are made again. */
    version: number;
    /** The `revision` and the `eventCount` of the {@link WordRow}. */
    since: number | string | null;
    event_count: number | string | null;
    /** See {@link WordRow}. */
    seen: string;
    /** See {@link WordRow}. The last column, so that SQLite reads the others without it. */
    words: string;
  };
  /** The last mutation of each client that was applied to a session, or to a shared state. */
  adk_session_wasm_mutations: UserKeyColumns & {
    /** Empty for a shared state. */
    session_id: string;
    client: string;
    last_number: number | string;
    /** The revision at which the session was created, 0 if that is not known, -1 if it was deleted. */
    created: number | string;
    /** Milliseconds since 1970. */
    update_time: number;
  };
  /**
   * A version of a file. The last version of a deleted file stays, without content: its number is not given again. On
   * servers a row without a name is what writes of a user's files lock.
   */
  adk_session_wasm_files: FileOwnerColumns & {
    name: string;
    version: number;
    /** Names the chunks. */
    content: string | null;
    size: number | string;
    /** The JSON of `FileFacts`, and the hash. */
    facts: string;
    /** Milliseconds since 1970. */
    create_time: number | string;
  };
  /** A MiB of the bytes that versions of files have. One content may be that of several versions. */
  adk_session_wasm_file_chunks: FileOwnerColumns & {
    content: string;
    position: number;
    bytes: Uint8Array;
    /** Milliseconds since 1970, when it was last put. */
    create_time: number | string;
  };
}

/**
 * Whose a file is. The foreign key is over `session_id`. It is `null` for a file of the user, for which `owner`, a part of
 * the primary key, is empty.
 */
interface FileOwnerColumns extends UserKeyColumns {
  /** The id of the session. */
  owner: string;
  session_id: string | null;
}

/** Builds queries. A runner runs them. Only the Kysely of a user has connections. */
export type Database = Kysely<Tables>;

/** Returns a database that has no connection. */
export function queryBuilder({ dialect }: Engine): Database {
  return new Kysely({ dialect: { ...dialect, createDriver: () => new DummyDriver() } });
}

/** The tables of an engine under their full names. */
export interface NamedTables extends EngineTables {
  readonly database: Database;
  readonly engine: Engine;
}

/** The keys of the rows of metadata. */
export const METADATA = {
  /** Python's, in layouts that have it. The value is `'1'`. */
  version: 'schema_version',
  /** Ours, which Python ignores. The value is the highest revision that was ever deleted. */
  floor: 'adk_session_wasm_floor',
  /** Ours. The value is the secret part of the name of the channel between processes: 32 hexadecimal digits. */
  channel: 'adk_session_wasm_channel',
} as const;

/** Formats a floor with a fixed length, so that texts compare as the numbers do. */
export function floorText(revision: number): string {
  return String(revision).padStart(16, '0');
}

/** Returns the value of a row of metadata; `undefined` if the row does not exist. */
export function* readMetadata(
  database: Database,
  table: Layout['metadata'],
  key: (typeof METADATA)[keyof typeof METADATA],
): Steps<string | undefined> {
  const query = database.selectFrom(table).select('value').where('key', '=', key);
  const [row] = yield* runOnce(database, query);
  return row?.value;
}
