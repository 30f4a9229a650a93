/**
 * What a SQLite connection has written last, so that the next append need not read it again.
 *
 * SQLite tells by one number whether another connection, of this program or any other, has changed the
 * file. It is asked within the transaction, beside which nobody can write: as long as it is the same,
 * what was committed here is what a query would find. All that is left to be read is whether the event is
 * stored already, and that the table's key tells as well: its row is not inserted then, the transaction
 * starts over, and as the first attempt has forgotten what it used, it is read. Nor is anything refused by
 * what is known here alone, since nothing is inserted then.
 *
 * @module
 */
import { CompiledQuery } from 'kysely';
import type { Changes, ScopeRow, SessionRow, WriteRequest } from '../../storage/adapter.js';
import { putLast } from '../../storage/bounded_map.js';
import type { FoundRows } from './found.js';
import { Prepared, rowsOf, type Steps } from '../transactions/prepared.js';
import { LAST_MICROS, microsOf } from '../../python/micros.js';

/** How many sessions, users and apps are kept. */
const MAX_ROWS = 100;
/** The longest state that is kept, in UTF-16 code units. */
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

/** A user's or an app's. */
interface LastState {
  readonly appName: string;
  readonly row: ScopeRow;
}

export class LastWrites {
  #version: number | undefined;
  /** By id, one of all that may have it. */
  readonly #sessions = new Map<string, LastSession>();
  readonly #users = new Map<string, LastState>();
  readonly #apps = new Map<string, LastState>();

  /**
   * What a write would find, if all of it is known. It forgets what that write may change: what comes of
   * it is known again when it has been committed, see {@link LastWrites.keep}.
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
      // What the handle has missed is not known here.
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

  /** After the commit of a write that found `rows`. */
  keep({ key }: WriteRequest, { found, kept }: FoundRows, changes: Changes): void {
    const { appName, userId } = key;
    const { session } = changes;
    const isAppended = changes.events.every(({ seq, revision }) => seq === revision);
    // What has a row of ours beside it stands nowhere else, and is read.
    if (session === undefined || userId === undefined || !isAppended) return;
    if (session.revision !== microsOf(session.lastUpdateTime)) return;
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

/** Whether its events are to be written: of one that is only looked for no insertion tells. */
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
