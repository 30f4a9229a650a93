import type { Kysely } from 'kysely';

/** What every row of a session's is found by. */
interface SessionColumns {
  app_name: string;
  user_id: string;
}

/** google-adk Python's tables, schema version 1, and the one that we keep beside them. */
export interface Tables {
  adk_internal_metadata: { key: string; value: string };
  sessions: SessionColumns & {
    id: string;
    state: string;
    create_time: string;
    update_time: string;
  };
  app_states: { app_name: string; state: string; update_time: string };
  user_states: SessionColumns & { state: string; update_time: string };
  events: SessionColumns & {
    id: string;
    session_id: string;
    invocation_id: string;
    timestamp: string;
    event_data: string | null;
  };
  /**
   * What a row of `sessions` cannot say. There is one only for sessions that need it, and its time
   * counts only while `update_time` is the session's: a write of Python's makes it void.
   */
  adk_session_wasm_sessions: SessionColumns & {
    session_id: string;
    update_time: string;
    /** The session's `lastUpdateTime`, where `update_time` had to go beyond it to be a new one. */
    last_update_time: string;
    /** The revision at which an event was last replaced. Stays good after Python's writes. */
    replaced_at: string | null;
  };
}

/** A connection, or a pool of them. */
export type Database = Kysely<Tables>;

/** What the `key` of a row of `adk_internal_metadata` says. */
export const METADATA = {
  /** Python's: `'1'`. */
  version: 'schema_version',
  /** Ours, which Python ignores: the highest revision that was ever deleted. */
  floor: 'adk_session_wasm_floor',
} as const;

/** A floor as text of one length, which compares as the numbers do. */
export function floorText(revision: number): string {
  return String(revision).padStart(16, '0');
}

/** What a row of `adk_internal_metadata` says; `undefined` if it is not there. */
export async function readMetadata(
  connection: Database,
  key: (typeof METADATA)[keyof typeof METADATA],
): Promise<string | undefined> {
  const [row] = await connection
    .selectFrom('adk_internal_metadata')
    .select('value')
    .where('key', '=', key)
    .execute();
  return row?.value;
}
