import type { Kysely } from 'kysely';
import type { StoredTime } from '../engines/engine.js';
import type { Layout } from './layout.js';

/** What every row of a session's is found by. */
interface SessionColumns {
  app_name: string;
  user_id: string;
}

interface MetadataColumns {
  key: string;
  value: string;
}

/** google-adk Python's tables, in either layout, and those that we keep beside them. */
export interface Tables {
  /** Not in every layout; see {@link Layout.metadata}. */
  adk_internal_metadata: MetadataColumns;
  adk_session_wasm_metadata: MetadataColumns;
  sessions: SessionColumns & {
    id: string;
    state: string;
    create_time: StoredTime;
    update_time: StoredTime;
  };
  app_states: { app_name: string; state: string; update_time: StoredTime };
  user_states: SessionColumns & { state: string; update_time: StoredTime };
  events: SessionColumns & {
    id: string;
    session_id: string;
    invocation_id: string;
    timestamp: StoredTime;
    event_data: string | null;
  };
  /**
   * What a row of `sessions` cannot say. There is one only for sessions that need it, and its time
   * counts only while `update_time` is the session's: a write of Python's makes it void.
   */
  adk_session_wasm_sessions: SessionColumns & {
    session_id: string;
    update_time: StoredTime;
    /** The session's `lastUpdateTime`, where `update_time` had to go beyond it to be a new one. */
    last_update_time: StoredTime;
    /** The revision at which an event was last replaced. Stays good after Python's writes. */
    replaced_at: StoredTime | null;
  };
}

/** A connection, or a pool of them. */
export type Database = Kysely<Tables>;

/** What the `key` of a row of metadata says. */
export const METADATA = {
  /** Python's, where its layout has one: `'1'`. */
  version: 'schema_version',
  /** Ours, which Python ignores: the highest revision that was ever deleted. */
  floor: 'adk_session_wasm_floor',
} as const;

/** A floor as text of one length, which compares as the numbers do. */
export function floorText(revision: number): string {
  return String(revision).padStart(16, '0');
}

/** What a row of metadata says; `undefined` if it is not there. */
export async function readMetadata(
  connection: Database,
  table: Layout['metadata'],
  key: (typeof METADATA)[keyof typeof METADATA],
): Promise<string | undefined> {
  const [row] = await connection.selectFrom(table).select('value').where('key', '=', key).execute();
  return row?.value;
}
