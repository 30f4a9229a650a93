/**
 * Caches the rows that a SQLite connection wrote last, so that the next append need not read them.
 *
 * SQLite's `data_version` changes when another connection, of this program or another, has changed the file.
 * It is read inside the write transaction, while nobody else can write. As long as it stays the same, a query
 * would return the rows committed here.
 *
 * The cache does not know whether the appended event is stored already. In that case inserting it violates
 * the table's primary key and the transaction is run again. The first attempt has removed the rows it used
 * from the cache, so the second one reads them.
 *
 * A refusal inserts nothing, so the key cannot reveal a stored event. The caller therefore reads the rows
 * before it accepts a refusal.
 *
 * @module
 */
import { CompiledQuery } from 'kysely';
import type { Changes, ScopeRow, SessionRow, WriteRequest } from '../../storage/adapter.js';
import { putLast } from '../../storage/bounded_map.js';
import type { FoundRows } from './found.js';
import { Prepared, rowsOf, type Steps } from '../transactions/prepared.js';
import { LAST_MICROS, millisecondsToMicros } from '../../python/micros.js';

/** The most sessions, the most users and the most apps that are cached. */
const MAX_ROWS = 100;
/** The longest state that is cached, in UTF-16 code units. */
const MAX_STATE = 65_536;

interface VersionColumns {
  data_version: number;
}

const DATA_VERSION = new Prepared<object, VersionColumns>(
  () => ({ compile: () => CompiledQuery.raw('pragma data_version') }),
  (columns: readonly [version: number]) => ({ data_version: columns[0] }),
);

const ASKED = [DATA_VERSION.of({})] as const;

interface LastSession {
  readonly session: SessionRow;
  readonly kept: FoundRows['kept'];
}

/** The state of a user or an app. */
interface LastState {
  readonly appName: string;
  readonly row: ScopeRow;
}

/** The rows that one connection wrote last. */
export class LastWrites {
  #version: number | undefined;
  /** By session id. Only one of the sessions that share an id is cached. */
  readonly #sessions = new Map<string, LastSession>();
  readonly #users = new Map<string, LastState>();
  readonly #apps = new Map<string, LastState>();

  /**
   * Returns the rows that a write would read, or `undefined` if one of them is not cached. Removes the rows
   * that the write may change; {@link LastWrites.keep} puts them back after the commit.
   */
  *find(request: WriteRequest, isCreate: boolean): Steps<FoundRows | undefined> {
    const rows = rowsOf(ASKED, yield { queries: ASKED, isLast: false });
    const version = rows[0][0]?.data_version;
    if (version === undefined || version !== this.#version) this.clear();
    this.#version = version;
    const { appName, userId, sessionId } = request.key;
    const wantsUser = userId !== undefined && (isCreate || request.scopes.includes('user'));
    const wantsApp = isCreate || request.scopes.includes('app');
    const last = sessionId === undefined ? undefined : taken(this.#sessions, sessionId);
    const user = wantsUser ? taken(this.#users, userId) : undefined;
    const app = wantsApp ? taken(this.#apps, appName) : undefined;
    if (last === undefined || !isNewEvent(request)) return undefined;
    const { session, kept } = last;
    const isKnown =
      session.appName === appName &&
      session.userId === userId &&
      // The cache does not hold the events that the handle has missed.
      request.since >= session.revision &&
      (!wantsUser || user?.appName === appName) &&
      (!wantsApp || app !== undefined);
    if (!isKnown) return undefined;
    const { revision: floor } = session;
    return {
      found: { session, user: user?.row, app: app?.row, events: [], changed: [], floor },
      kept,
    };
  }

  /** Caches the rows of a committed write: those that it found, with its changes. */
  keep({ key }: WriteRequest, { found, kept }: FoundRows, changes: Changes): void {
    const { appName, userId } = key;
    const { session } = changes;
    const isAppended = changes.events.every(({ seq, revision }) => seq === revision);
    // The side table's row of a session is not cached, so a session that needs one is read.
    if (session === undefined || userId === undefined || !isAppended) return;
    if (session.revision !== millisecondsToMicros(session.lastUpdateTime)) return;
    if (session.revision > LAST_MICROS || session.state.length > MAX_STATE) return;
    const { sessionId, created, revision, state } = session;
    const lastUpdateTime = revision / 1000;
    const row = { appName, userId, sessionId, created, revision, lastUpdateTime, state };
    putLast(this.#sessions, sessionId, { session: row, kept }, MAX_ROWS);
    putState(this.#users, userId, appName, changes.user ?? found.user);
    putState(this.#apps, appName, appName, changes.app ?? found.app);
  }

  clear(): void {
    this.#sessions.clear();
    this.#users.clear();
    this.#apps.clear();
  }
}

/**
 * Whether the request appends events. A request that only looks events up inserts nothing, so no violated key
 * would reveal them.
 */
function isNewEvent({ eventIds, lastUpdateTime = 0 }: WriteRequest): boolean {
  return eventIds.length > 0 && lastUpdateTime > 0;
}

function taken<Value>(map: Map<string, Value>, name: string): Value | undefined {
  const value = map.get(name);
  map.delete(name);
  return value;
}

function putState(
  states: Map<string, LastState>,
  name: string,
  appName: string,
  row: ScopeRow | undefined,
): void {
  if (row === undefined || row.state.length > MAX_STATE) return;
  putLast(states, name, { appName, row }, MAX_ROWS);
}
