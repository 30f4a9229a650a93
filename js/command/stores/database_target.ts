import type { DatabaseAdapter } from '../../database/database_adapter.js';
import { openAdapter } from '../../database/database_session_service.js';
import type { NameOptions } from '../../database/tables/table_names.js';
import { millisecondsToMicros } from '../../python/micros.js';
import type { Changes, EventRow, StorageKey } from '../../storage/rows.js';
import { NO_SHARED_ROWS } from '../../storage/built_in_adapter.js';
import { scopeOf } from '../../storage/scopes.js';
import { NEVER } from '../../wasm/protocol.js';
import { type Fingerprint, fingerprintOf } from './fingerprint.js';
import type { SessionCopy, StateCopy } from './session_copy.js';
import { mergeState } from './shared_state.js';
import type { Target } from './store.js';

/** A SQL database. Sessions and states are written as rows by the storage adapter, each in one transaction. */
export class DatabaseTarget implements Target {
  readonly isFile = false;
  readonly #adapter: DatabaseAdapter;

  constructor(url: string, { schema, tablePrefix }: NameOptions) {
    this.#adapter = openAdapter({ url, schema, tablePrefix });
  }

  open(): Promise<void> {
    return this.#adapter.open();
  }

  close(): Promise<void> {
    return this.#adapter.close();
  }

  async fingerprint(key: Required<StorageKey>): Promise<Fingerprint | undefined> {
    const { session, events } = await this.#adapter.read({ key, window: {} });
    return session && fingerprintOf({ ...session, key, events }, false);
  }

  async create(session: SessionCopy): Promise<boolean> {
    let isCreated = false;
    await this.#adapter.create(writeRequest(session), (currentRows) => {
      isCreated = currentRows.session === undefined;
      return isCreated ? toRows(session, currentRows.floor) : undefined;
    });
    return isCreated;
  }

  async replace(session: SessionCopy): Promise<void> {
    await this.#adapter.replace(writeRequest(session), (currentRows) =>
      toRows(session, currentRows.floor),
    );
  }

  async state(key: StateCopy['key']): Promise<string> {
    const rows = await this.#adapter.read({ key, window: { last: 0 } });
    return rows[scopeOf(key)]?.state ?? '{}';
  }

  async addState({ key, state }: StateCopy, overwrite: boolean): Promise<readonly string[]> {
    const scope = scopeOf(key);
    let conflictingKeys: readonly string[] = [];
    const request = { key, scopes: [scope] as const, eventIds: [], since: NEVER };
    await this.#adapter.append(request, (currentRows): Changes | undefined => {
      const storedState = currentRows[scope];
      const merged = mergeState(storedState?.state ?? '{}', state, overwrite);
      ({ conflictingKeys } = merged);
      if (merged.state === undefined) return undefined;
      const revision = Math.max(storedState?.revision ?? 0, currentRows.floor) + 1;
      return { ...NO_SHARED_ROWS, [scope]: { revision, state: merged.state }, events: [] };
    });
    return conflictingKeys;
  }
}

function writeRequest({ key, events }: SessionCopy) {
  const eventIds = events.map(({ id }) => id);
  return { key, scopes: [], eventIds, since: NEVER };
}

/**
 * Returns a session's rows. As in the database's own rows, revisions are times in microseconds. Python then
 * reads each event at its own time, as long as these times increase.
 */
function toRows(session: SessionCopy, floor: number): Changes {
  const { key, lastUpdateTime, state, title, labels, initialState } = session;
  const created = Math.max(floor + 1, millisecondsToMicros(session.created));
  let revision = created;
  const events = session.events.map(({ id, timestamp, text }): EventRow => {
    revision = Math.max(revision + 1, millisecondsToMicros(Math.min(timestamp, lastUpdateTime)));
    return { id, seq: revision, revision, timestamp, text };
  });
  revision = Math.max(revision, millisecondsToMicros(lastUpdateTime));
  const description = { title, labels, initialState };
  const row = { ...key, created, revision, lastUpdateTime, state, ...description };
  return { ...NO_SHARED_ROWS, session: row, events };
}
