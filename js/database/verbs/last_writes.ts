/**
 * Caches the rows that a SQLite connection wrote last, so that the next append need not read them.
 *
 * SQLite's `data_version` changes when another connection, of this program or another, has changed the file.
 * It is read inside the write transaction, while nobody else can write. As long as it stays the same, a query
 * would return the rows committed here.
 *
 * The cache does not know whether the appended event is stored already. In that case inserting it violates
 * the table's primary key and the transaction is run again. The first attempt has not committed, so the second
 * one empties the cache and reads the rows.
 *
 * A refusal inserts nothing, so the key cannot reveal a stored event. The caller therefore reads the rows
 * before it accepts a refusal.
 *
 * @module
 */
import { CompiledQuery } from 'kysely';
import { SHARED_SCOPES, type SharedScope } from '../../state/scope.js';
import type { StorageWriteRequest } from '../../storage/adapter.js';
import type { Changes, Found, SessionRow, SharedRow } from '../../storage/rows.js';
import { putLast } from '../../storage/bounded_map.js';
import type { CurrentRows, DecidedWrite } from './current_rows.js';
import { keyOf, ownerName } from './session_statements.js';
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

const VERSION_QUERY = [DATA_VERSION.of({})] as const;

interface LastSession {
  readonly session: SessionRow;
  readonly sideTableRow: CurrentRows['sideTableRow'];
}

/** The rows that one connection wrote last. */
export class LastWrites {
  readonly #isShared: boolean;
  /** The version at which the rows are current; `undefined` from a transaction's begin to its commit. */
  #version: number | undefined;
  /** The version that the last transaction read. */
  #lastVersion: number | undefined;
  /** By session id. Only one of the sessions that share an id is cached. */
  readonly #sessions = new Map<string, LastSession>();
  /** By the owner's name. */
  readonly #states: Readonly<Record<SharedScope, Map<string, SharedRow>>> = {
    app: new Map(),
    user: new Map(),
  };

  /** @param isShared whether other connections may write to the database */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /**
   * Returns the rows that each write would read, or `undefined` if one of them is not cached. The cache counts as
   * outdated until {@link LastWrites.keep} is called after the commit.
   */
  *find(
    requests: readonly StorageWriteRequest[],
    isCreate: boolean,
  ): Steps<readonly (CurrentRows | undefined)[]> {
    let version: number | undefined = 0;
    if (this.#isShared) {
      const [rows] = rowsOf(VERSION_QUERY, yield { queries: VERSION_QUERY, isLast: false });
      version = rows[0]?.data_version;
    }
    if (version === undefined || version !== this.#version) this.clear();
    this.#lastVersion = version;
    this.#version = undefined;
    return requests.map((request) => this.#rowsOf(request, isCreate));
  }

  #rowsOf(request: StorageWriteRequest, isCreate: boolean): CurrentRows | undefined {
    const key = keyOf(request.key);
    const last = this.#sessions.get(key.session);
    if (last === undefined || isCreate || !isNewEvent(request)) return undefined;
    const { session, sideTableRow } = last;
    const isAsked = (scope: SharedScope) => request.scopes.includes(scope);
    const row = (scope: SharedScope) =>
      isAsked(scope) ? this.#states[scope].get(ownerName[scope](key)) : undefined;
    const { revision: floor } = session;
    const [user, app] = [row('user'), row('app')];
    const found: Found = { session, user, app, events: [], changed: [], floor };
    const isKnown =
      session.appName === key.app &&
      session.userId === key.user &&
      // The cache does not hold the events that the handle has missed.
      request.since >= floor &&
      SHARED_SCOPES.every((scope) => found[scope] !== undefined || !isAsked(scope));
    return isKnown ? { key, found, sideTableRow } : undefined;
  }

  /** Caches the rows of committed writes: those that they found, with their changes. */
  keep(writes: readonly DecidedWrite[]): void {
    this.#version = this.#lastVersion;
    for (const { rows, changes } of writes) {
      const { key, found, sideTableRow } = rows;
      const session = lastSession(changes);
      if (session === undefined) this.#sessions.delete(key.session);
      else putLast(this.#sessions, key.session, { session, sideTableRow }, MAX_ROWS);
      for (const scope of SHARED_SCOPES) {
        const state = changes[scope] ?? found[scope];
        if (state === undefined) continue;
        const name = ownerName[scope](key);
        if (state.state.length > MAX_STATE) this.#states[scope].delete(name);
        else putLast(this.#states[scope], name, state, MAX_ROWS);
      }
    }
  }

  clear(): void {
    this.#sessions.clear();
    for (const states of Object.values(this.#states)) states.clear();
  }
}

/** Returns the row of a session that was written; `undefined` if it is not cached. */
function lastSession({ session, events }: Changes): SessionRow | undefined {
  const isAppended = events.every(({ seq, revision }) => seq === revision);
  // The side table's row of a session is not cached, so a session that needs one is read.
  if (session === undefined || !isAppended) return undefined;
  if (session.revision !== millisecondsToMicros(session.lastUpdateTime)) return undefined;
  if (session.revision > LAST_MICROS || session.state.length > MAX_STATE) return undefined;
  const { appName, userId, sessionId, created, revision, state } = session;
  return { appName, userId, sessionId, created, revision, lastUpdateTime: revision / 1000, state };
}

/**
 * Whether the request appends events. A request that only looks events up inserts nothing, so no violated key
 * would reveal them.
 */
function isNewEvent({ eventIds, lastUpdateTime = 0 }: StorageWriteRequest): boolean {
  return eventIds.length > 0 && lastUpdateTime > 0;
}
