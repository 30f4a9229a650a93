/** Reads the rows that a write decides on, and locks those that it may change. */
import { type RawBuilder, sql } from 'kysely';
import type {
  EventRow,
  Found,
  ScopeRow,
  SessionRow,
  StorageKey,
  WriteRequest,
} from '../../storage/adapter.js';
import { byCount, filledBatches } from './batches.js';
import type { Engine, EngineKind, StoredTime } from '../engines/engine.js';
import type { Layout } from '../tables/layout.js';
import { Prepared, type Query, rowsOf, type Steps, together } from '../transactions/prepared.js';
import type { Revisions, StandingColumns } from '../tables/revisions.js';
import { type EventColumns, eventRow, scopeRow, sessionRow } from '../tables/rows.js';
import {
  inOrder,
  IS_BESIDE,
  type Key,
  selectEvents,
  sessionColumns,
  type SessionStatements,
  standingColumns,
} from './session_statements.js';
import { type Database, METADATA } from '../tables/tables.js';
import { LAST_REVISION, parseTime } from '../../python/micros.js';

/** The most ids in one query. Engines limit the number of a query's parameters. */
const MAX_IDS = 1024;

/**
 * How far, in microseconds, the time of an event that Python appended may lie before the handle's revision.
 * Such an event came later; clocks differ, and an event is made some time before its append.
 */
const LOOK_BACK = 10_000_000;

/**
 * The columns of the one row that is read by a session's key. A row that is missing or was not asked for
 * gives NULL.
 */
interface FoundColumns extends StandingColumns {
  state: string | null;
  create_time: StoredTime | null;
  update_time: StoredTime | null;
  last_update_time: StoredTime | null;
  floor: string | null;
  id: string | null;
  invocation_id: string | null;
  event_data: string | null;
  timestamp: StoredTime | null;
  app_state: string | null;
  app_time: StoredTime | null;
  user_state: string | null;
  user_time: StoredTime | null;
}

type Column<Name extends keyof FoundColumns> = FoundColumns[Name];

/** The columns of {@link FoundColumns}, in the order of the query. */
type FoundTuple = readonly [
  floor: Column<'floor'>,
  id: Column<'id'>,
  invocationId: Column<'invocation_id'>,
  state: Column<'state'>,
  createTime: Column<'create_time'>,
  updateTime: Column<'update_time'>,
  keptTime: Column<'kept_time'>,
  lastUpdateTime: Column<'last_update_time'>,
  replacedAt: Column<'replaced_at'>,
  eventData: Column<'event_data'>,
  timestamp: Column<'timestamp'>,
  newest: Column<'newest'>,
  later: Column<'later'>,
  appState: Column<'app_state'>,
  appTime: Column<'app_time'>,
  userState: Column<'user_state'>,
  userTime: Column<'user_time'>,
];

/** Reads by index, since destructuring an array runs its iterator. */
function foundColumns(columns: FoundTuple): FoundColumns {
  return {
    floor: columns[0],
    id: columns[1],
    invocation_id: columns[2],
    state: columns[3],
    create_time: columns[4],
    update_time: columns[5],
    kept_time: columns[6],
    last_update_time: columns[7],
    replaced_at: columns[8],
    event_data: columns[9],
    timestamp: columns[10],
    newest: columns[11],
    later: columns[12],
    app_state: columns[13],
    app_time: columns[14],
    user_state: columns[15],
    user_time: columns[16],
  };
}

/** The rows that a write found, and the columns of the side table that `Found` has no place for. */
export interface FoundRows {
  readonly found: Found;
  /** Our row beside the session, if there is one, with the time at which an event was last replaced. */
  readonly kept?: { readonly replacedAt: StoredTime | null } | undefined;
}

/** The states that a statement of {@link foundStatements} joins. */
interface Scopes {
  readonly app: boolean;
  readonly user: boolean;
}

/** Makes the statements of {@link find}. */
export function foundStatements(database: Database, engine: Engine, layout: Layout) {
  const { json, time } = engine;
  const found = ({ app, user }: Scopes) =>
    new Prepared<Key & { event: string }, FoundColumns>(
      (value) =>
        database
          // Returns one row even if nothing is stored.
          .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('m'))
          .leftJoin('sessions as s', (join) =>
            join
              .on('s.app_name', '=', value('app'))
              .on('s.user_id', '=', value('user'))
              .on('s.id', '=', value('session')),
          )
          .leftJoin('adk_session_wasm_sessions as k', (join) => join.on(IS_BESIDE))
          .leftJoin('events as e', (join) =>
            join
              .onRef('e.app_name', '=', 's.app_name')
              .onRef('e.user_id', '=', 's.user_id')
              .onRef('e.session_id', '=', 's.id')
              .on('e.id', '=', value('event')),
          )
          .select([
            floorWhere(layout, absence({ app, user })).as('floor'),
            'e.id',
            'e.invocation_id',
          ])
          .select(sessionColumns(engine))
          .select((of) => [
            json(of.ref('e.event_data')).as('event_data'),
            time(of.ref('e.timestamp')).as('timestamp'),
          ])
          .select(standingColumns(engine))
          .$if(app, (query) =>
            query.leftJoin('app_states as a', (join) => join.on('a.app_name', '=', value('app'))),
          )
          .$if(user, (query) =>
            query.leftJoin('user_states as u', (join) =>
              join.on('u.app_name', '=', value('app')).on('u.user_id', '=', value('user')),
            ),
          )
          .select(stateOf(engine, 'a', app, 'app'))
          .select(stateOf(engine, 'u', user, 'user')),
      foundColumns,
    );
  const ofEvents = (replacedToo: boolean) =>
    new Prepared<Key & { since: StoredTime }, EventColumns>((value) => {
      const query = selectEvents(database, engine, value).where((where) => {
        const isNew = where('timestamp', '>=', value('since'));
        const data = json(where.ref('event_data'));
        return replacedToo ? where.or([isNew, where(data, 'like', '%"adk_session_wasm"%')]) : isNew;
      });
      return inOrder(engine, query, 'asc');
    });
  return {
    found: {
      ofSession: found({ app: false, user: false }),
      withApp: found({ app: true, user: false }),
      withUser: found({ app: false, user: true }),
      withBoth: found({ app: true, user: true }),
    },
    /** Lock, on servers, a row that the write may change. Each returns one row if the row exists. */
    locks: {
      session: new Prepared<Key, { locked: number }>((value) =>
        database
          .selectFrom('sessions')
          .select(LOCKED)
          .where('app_name', '=', value('app'))
          .where('user_id', '=', value('user'))
          .where('id', '=', value('session'))
          .forUpdate(),
      ),
      app: new Prepared<Key, { locked: number }>((value) =>
        database
          .selectFrom('app_states')
          .select(LOCKED)
          .where('app_name', '=', value('app'))
          .forUpdate(),
      ),
      user: new Prepared<Key, { locked: number }>((value) =>
        database
          .selectFrom('user_states')
          .select(LOCKED)
          .where('app_name', '=', value('app'))
          .where('user_id', '=', value('user'))
          .forUpdate(),
      ),
    },
    /** Selects events by their ids, with one statement per number of ids. */
    events: byCount(
      (ids) =>
        new Prepared<Key & Record<`id${number}`, string>, EventColumns>((value) =>
          selectEvents(database, engine, value).where(
            'id',
            'in',
            Array.from({ length: ids }, (_, index) => value(`id${index}`)),
          ),
        ),
    ),
    changed: ofEvents(false),
    changedOrReplaced: ofEvents(true),
  };
}

/** The condition that at least one of the joined rows is missing. */
function absence({ app, user }: Scopes): RawBuilder<boolean> {
  const columns = ['s.id', ...(app ? ['a.app_name'] : []), ...(user ? ['u.user_id'] : [])];
  const absent = columns.map((column) => sql<boolean>`${sql.ref(column)} is null`);
  return sql<boolean>`${sql.join(absent, sql` or `)}`;
}

/**
 * Selects the floor if the condition holds, else NULL. Every deletion writes the row of the floor. A database
 * that checks serializability would refuse each write that read it during a deletion.
 */
function floorWhere({ metadata }: Layout, condition: RawBuilder<boolean>) {
  return sql<string | null>`case when ${condition} then
    (select f.value from ${sql.table(metadata)} f where f.key = ${sql.lit(METADATA.floor)}) end`;
}

/** The state and time of the row joined as `table`, or NULLs under the same names if it was not joined. */
function stateOf<Name extends 'app' | 'user'>(
  { json, time }: Engine,
  table: string,
  isThere: boolean,
  name: Name,
) {
  const state: RawBuilder<string | null> = isThere
    ? json(sql.ref(`${table}.state`))
    : sql<null>`null`;
  const updated: RawBuilder<StoredTime | null> = isThere
    ? time(sql.ref(`${table}.update_time`))
    : sql<null>`null`;
  return [state.as(`${name}_state`), updated.as(`${name}_time`)] as const;
}

const LOCKED = sql<number>`1`.as('locked');

export type FoundStatements = ReturnType<typeof foundStatements>;

/** What {@link find} needs. */
export interface FindContext {
  readonly engine: Engine;
  readonly layout: Layout;
  readonly statements: SessionStatements & FoundStatements;
  readonly revisions: Revisions;
}

/**
 * Reads the rows for a write. On servers it first locks them, always in the order session, app, user.
 *
 * A create does not lock the session, because it never changes a stored one. It locks the app only if it
 * changes keys of the app: otherwise all creates of an app would wait for each other. It always locks the
 * user, so that it cannot run beside that user's deletion.
 *
 * On MySQL the session is locked alone, before anything else. That lock may hold a row that was just deleted,
 * and then blocks a create that inserts it and may hold the app. So `find` returns at once if the session is
 * missing, and waits for no other lock.
 *
 * On servers, a row that the lock did not return counts as missing, even if the query returns it. Such a row
 * was inserted in between and is not locked. The write then inserts it too, which fails, and the transaction
 * is run again.
 *
 * @param locksApp whether the write may change the app's state
 */
export function* find(
  context: FindContext,
  request: WriteRequest,
  isCreate: boolean,
  locksApp: boolean,
): Steps<FoundRows> {
  const { engine, statements, revisions } = context;
  const { kind, locksRows, locksDeletedRows } = engine;
  const { appName, userId, sessionId } = request.key;
  const key = { app: appName, user: userId ?? '', session: sessionId ?? '' };
  const wants = {
    session: sessionId !== undefined,
    app: isCreate || request.scopes.includes('app'),
    user: userId !== undefined && (isCreate || request.scopes.includes('user')),
  };
  const locks = {
    session: wants.session && !isCreate,
    app: wants.app && locksApp,
    user: wants.user,
  };
  const lock = (scope: keyof typeof wants) =>
    locksRows && locks[scope] ? statements.locks[scope].of(key) : undefined;
  const [lockedFirst] = locksDeletedRows && locks.session ? yield* together([lock('session')]) : [];
  if (lockedFirst?.length === 0) return { found: { events: [], changed: [], floor: 0 } };
  // A single event is joined to the row above. Several would repeat that row.
  const { eventIds } = request;
  const event = eventIds.length === 1 ? (eventIds[0] ?? '') : '';
  const queries = [
    lockedFirst ? undefined : lock('session'),
    lock('app'),
    lock('user'),
    foundOf(statements, wants).of({ app: key.app, user: key.user, session: key.session, event }),
    ...(eventIds.length > 1 ? byIds(statements, key, eventIds) : []),
  ] as const;
  const rows = rowsOf(queries, yield { queries, isLast: false });
  const lockedNow = rows[0];
  const appLock = rows[1];
  const userLock = rows[2];
  const row = rows[3][0];
  const isThere = (scope: keyof typeof wants, locked: readonly unknown[]) =>
    !locksRows || !locks[scope] || locked.length > 0;
  const timed = isThere('session', lockedFirst ?? lockedNow)
    ? foundSession(request.key, row)
    : undefined;
  const session = timed && row && revisions.placed(timed, row);
  const app = isThere('app', appLock) ? stateRow(row?.app_state, row?.app_time) : undefined;
  const user = isThere('user', userLock) ? stateRow(row?.user_state, row?.user_time) : undefined;
  const kept = row && row.kept_time !== null ? { replacedAt: row.replaced_at } : undefined;
  const isAnyAbsent = (wants.session && !session) || (wants.app && !app) || (wants.user && !user);
  const floor = isAnyAbsent ? Number(row?.floor ?? 0) : 0;
  const replacedAt = parseTime(kept?.replacedAt) ?? 0;
  let events = eventIds.length > 1 ? severalEvents(rows) : foundEvent(row);
  let changed: EventRow[] = [];
  if (timed && session) {
    const { since } = request;
    const updated = timed.revision;
    events = cameAs(kind, timed, session, events);
    if (since < session.revision && since <= LAST_REVISION) {
      changed = yield* readChanged(context, { key, session, replacedAt, since, updated });
    }
  } else {
    events = [];
  }
  return {
    found: {
      session,
      app,
      user,
      events,
      changed,
      // Python stores an event's own time in the column, which may be later than the session's `update_time`.
      floor: Math.max(floor, (session && parseTime(row?.newest)) ?? 0),
    },
    kept: session && kept,
  };
}

/**
 * Gives the event at the session's `update_time` the session's revision as its `seq`, on SQLite. There events
 * are read in append order, so a handle's last event may have a time that Python set back.
 */
function cameAs(
  kind: EngineKind,
  { revision: updated }: SessionRow,
  { revision }: SessionRow,
  events: EventRow[],
): EventRow[] {
  if (kind !== 'sqlite' || updated === revision) return events;
  return events.map((row) => (row.seq === updated ? { ...row, seq: revision } : row));
}

function foundOf({ found }: FoundStatements, { app, user }: Scopes) {
  if (app) return user ? found.withBoth : found.withApp;
  return user ? found.withUser : found.ofSession;
}

function byIds(
  { events }: FoundStatements,
  key: Key,
  ids: readonly string[],
): Query<EventColumns>[] {
  return [...filledBatches(ids, MAX_IDS)].map((batch) => {
    const values: Key & Record<`id${number}`, string> = { ...key };
    for (const [index, id] of batch.entries()) values[`id${index}`] = id;
    return events(batch.length).of(values);
  });
}

function severalEvents([, , , , ...several]: readonly [
  unknown,
  unknown,
  unknown,
  unknown,
  ...(readonly EventColumns[])[],
]): EventRow[] {
  return several.flat().map(eventRow);
}

function foundSession(key: StorageKey, row: FoundColumns | undefined): SessionRow | undefined {
  const { appName, userId, sessionId } = key;
  if (userId === undefined || sessionId === undefined || row === undefined) return undefined;
  const { state, create_time, update_time, kept_time, last_update_time } = row;
  if (state === null || create_time === null || update_time === null) return undefined;
  return sessionRow(
    { appName, userId, sessionId },
    { state, create_time, update_time, kept_time, last_update_time },
  );
}

function foundEvent(row: FoundColumns | undefined): EventRow[] {
  if (row === undefined) return [];
  const { id, invocation_id, timestamp, event_data } = row;
  if (id === null || invocation_id === null || timestamp === null) return [];
  return [eventRow({ id, invocation_id, timestamp, event_data })];
}

function stateRow(
  state: string | null = null,
  time: StoredTime | null = null,
): ScopeRow | undefined {
  return state === null ? undefined : scopeRow(state, time);
}

/** Reads the floor; 0 if its row is missing. */
export function* readFloor(statements: SessionStatements): Steps<number> {
  return Number((yield* statements.floor.run({}))[0]?.value ?? 0);
}

interface ChangedRequest {
  readonly key: Key;
  readonly session: SessionRow;
  /** The session's `update_time`, in microseconds. */
  readonly updated: number;
  readonly replacedAt: number;
  readonly since: number;
}

/**
 * Returns the events that changed after `since`, as their times tell it. Also returns events that may be new:
 * Python may append an event with an earlier time than a stored one. The caller skips the events that its
 * handle has.
 */
function* readChanged(
  { layout, statements }: FindContext,
  { key, session, updated, replacedAt, since }: ChangedRequest,
): Steps<EventRow[]> {
  const query = replacedAt > since ? statements.changedOrReplaced : statements.changed;
  const isOfEmpty = since === session.created;
  const from = isOfEmpty ? 0 : Math.max(0, Math.min(since, updated) - LOOK_BACK);
  const rows = yield* query.run({ ...key, since: layout.time(from) });
  const changed: EventRow[] = [];
  for (const columns of rows) {
    const row = eventRow(columns);
    if (row.revision > since) {
      changed.push(row);
    } else if (isOfEmpty || (row.seq === updated && updated !== session.revision)) {
      // It is the last appended event, or the handle was loaded before the first one.
      changed.push({ ...row, seq: since + 1 });
    } else if (row.seq >= from) {
      changed.push(row);
    }
  }
  return changed;
}
