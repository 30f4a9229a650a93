/** The statements that read the rows that a write decides on. */
import { type RawBuilder, sql } from 'kysely';
import type { SharedScope, StoredScope } from '../../../values/state/scope.js';
import { cached } from './statement_sizes.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { findByKey } from '../transactions/lookup.js';
import type { Layout } from '../tables/layout.js';
import { type Guard, Prepared } from '../engine/prepared.js';
import type { RevisionColumns } from '../tables/revisions.js';
import type { EventColumns } from '../tables/rows.js';
import {
  guardStatement,
  inOrder,
  isAlsoOfSession,
  isOfSession,
  JOINS_SIDE_TABLE,
  type Key,
  type KeyValue,
  selectEvents,
  sessionColumns,
  revisionColumns,
  matchesSession,
  isUser,
  selectFloor,
} from './session_statements.js';
import type { Database } from '../tables/tables.js';

/**
 * The columns of the one row that is read by a session's key. A row that is missing or was not asked for
 * gives NULL.
 */
export interface CurrentColumns extends RevisionColumns {
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

/** A locked session, or a locked state of a user or an app. */
export interface LockedRow {
  update_time: StoredTime;
}

/** The key of a session, and the id of one of its events. */
type EventKey = Key & { event: string };

/**
 * Select the time of a row, which each write of the row changes. Where a commit compares rows, a shared state stands
 * beside its time: on SQLite, Python's times of these rows have whole seconds.
 */
function timeSelections(database: Database, { queries: { time }, transactions }: Engine) {
  const updateTime = time(sql.ref('update_time')).as('update_time');
  const isCompared = transactions.locksRows && !transactions.locksByInsert;
  const timeAndState = sql<StoredTime>`cast(${time(sql.ref('update_time'))} as text) || ' ' || cast(${sql.ref('state')} as text)`;
  const ofShared = isCompared ? timeAndState.as('update_time') : updateTime;
  return {
    session: (value: KeyValue) =>
      database.selectFrom('sessions').select(updateTime).where(matchesSession(value)),
    app: (value: KeyValue) =>
      database.selectFrom('app_states').select(ofShared).where('app_name', '=', value('app')),
    user: (value: KeyValue) =>
      database.selectFrom('user_states').select(ofShared).where(isUser(value)),
  } satisfies Record<StoredScope, unknown>;
}

/** Returns what makes the guard of a row, whether it is there or not. */
export function rowGuard(
  database: Database,
  engine: Engine,
  layout: Layout,
  scope: StoredScope,
): Guard<Key, LockedRow> {
  const guard = guardStatement<Key>(database, layout, timeSelections(database, engine)[scope]);
  return (key, [row]) => guard(key, row?.update_time);
}

/** Makes the statements of {@link readCurrentRows}. */
export function currentRowsStatements(database: Database, engine: Engine, layout: Layout) {
  const ofEvents = (replacedToo: boolean, isLimited: boolean) =>
    new Prepared<Key & { since: StoredTime; limit: number }, EventColumns>((value) => {
      const query = selectEvents(database, engine, isOfSession(value)).where((where) => {
        const isNew = where('timestamp', '>=', value('since'));
        const data = engine.queries.json(where.ref('event_data'));
        return replacedToo ? where.or([isNew, where(data, 'like', '%"adk_session_wasm"%')]) : isNew;
      });
      const ordered = inOrder(engine, query, 'asc');
      return isLimited ? ordered.limit(value('limit')) : ordered;
    });
  const changedEvents = (replacedToo: boolean) => ({
    all: ofEvents(replacedToo, false),
    first: ofEvents(replacedToo, true),
  });
  const times = timeSelections(database, engine);
  const guardSession = rowGuard(database, engine, layout, 'session');
  const lockSession = (skipsLocked: boolean) =>
    findByKey<Key, LockedRow>(
      database,
      engine,
      ['app', 'user', 'session'],
      (value) => engine.transactions.lock(times.session(value), skipsLocked),
      guardSession,
    );
  const lockState = (scope: SharedScope) => ({
    one: new Prepared<Key, LockedRow>(
      (value) => engine.transactions.lock(times[scope](value)),
      rowGuard(database, engine, layout, scope),
    ),
  });
  const guardFloor = guardStatement<object>(database, layout, () => selectFloor(database, layout));
  return {
    /** Select a session with the states of these scopes. */
    current: cached((scopes: readonly SharedScope[]) =>
      findByKey<EventKey, CurrentColumns>(
        database,
        engine,
        ['app', 'user', 'session', 'event'],
        (value) => selectCurrent(database, engine, layout, scopes, value),
        // Above this floor something is created. A deletion since then may have raised it.
        (_, [row]) => (row?.floor == null ? undefined : guardFloor({}, row.floor)),
      ),
    ),
    /** Lock, on servers, a row that the write may change. Each returns one row if the row exists. */
    locks: {
      session: lockSession(false),
      /** Skips a session that another transaction holds. */
      freeSession: lockSession(true),
      app: lockState('app'),
      user: lockState('user'),
    },
    /**
     * Selects an event by its id. A list of ids in one condition would make PostgreSQL compare each row of the table
     * with each id, as long as it has no statistics: 13 s for 10,000 ids beside 40,000 events.
     */
    event: findByKey<EventKey, EventColumns>(
      database,
      engine,
      ['app', 'user', 'session', 'event'],
      (value) =>
        selectEvents(database, engine, isAlsoOfSession(engine, value)).where(
          'id',
          '=',
          value('event'),
        ),
    ),
    /** Selects events by their ids where an engine finds no rows of several keys, with one statement per number of ids. */
    events: cached(
      (ids: number) =>
        new Prepared<Key & Record<`id${number}`, string>, EventColumns>((value) =>
          selectEvents(database, engine, isAlsoOfSession(engine, value)).where(
            'id',
            'in',
            Array.from({ length: ids }, (_, index) => value(`id${index}`)),
          ),
        ),
    ),
    changed: changedEvents(false),
    changedOrReplaced: changedEvents(true),
    /** Selects the last events between two times. */
    lastBetween: new Prepared<
      Key & { since: StoredTime; until: StoredTime; limit: number },
      EventColumns
    >((value) => {
      const query = selectEvents(database, engine, isOfSession(value))
        .where('timestamp', '>=', value('since'))
        .where('timestamp', '<', value('until'));
      return inOrder(engine, query, 'desc').limit(value('limit'));
    }),
  };
}

/** Selects the current rows as one row, even if nothing is stored. */
function selectCurrent(
  database: Database,
  engine: Engine,
  layout: Layout,
  scopes: readonly SharedScope[],
  value: (name: keyof EventKey) => string,
) {
  const { json, time } = engine.queries;
  const [app, user] = [scopes.includes('app'), scopes.includes('user')];
  return database
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('one'))
    .leftJoin('sessions as session', (join) => join.on(matchesSession(value, 'session')))
    .leftJoin('adk_session_wasm_sessions as side', (join) => join.on(JOINS_SIDE_TABLE))
    .leftJoin('events as event', (join) =>
      join
        .on('event.id', '=', value('event'))
        .on(isAlsoOfSession(engine, (name) => sql.ref(JOINED_KEY[name]), 'event')),
    )
    .select([
      floorWhere(database, layout, absence(scopes)).as('floor'),
      'event.id',
      'event.invocation_id',
    ])
    .select(sessionColumns(engine))
    .select((of) => [
      json(of.ref('event.event_data')).as('event_data'),
      time(of.ref('event.timestamp')).as('timestamp'),
    ])
    .select(revisionColumns(engine))
    .$if(app, (query) =>
      query.leftJoin('app_states as app', (join) => join.on('app.app_name', '=', value('app'))),
    )
    .$if(user, (query) =>
      query.leftJoin('user_states as owner', (join) =>
        join.on('owner.app_name', '=', value('app')).on('owner.user_id', '=', value('user')),
      ),
    )
    .select(stateOf(engine, 'app', app, 'app'))
    .select(stateOf(engine, 'owner', user, 'user'));
}

/** The key of the joined session. */
const JOINED_KEY = { app: 'session.app_name', user: 'session.user_id', session: 'session.id' };

/** A column of each joined state that is not NULL. */
const STATE_KEYS: Readonly<Record<SharedScope, string>> = {
  app: 'app.app_name',
  user: 'owner.user_id',
};

/** The condition that at least one of the joined rows is missing. */
function absence(scopes: readonly SharedScope[]): RawBuilder<boolean> {
  const columns = ['session.id', ...scopes.map((scope) => STATE_KEYS[scope])];
  const absent = columns.map((column) => sql<boolean>`${sql.ref(column)} is null`);
  return sql<boolean>`${sql.join(absent, sql` or `)}`;
}

/**
 * Selects the floor if the condition holds, else NULL. Every deletion writes the row of the floor. A database
 * that checks serializability would refuse each write that read it during a deletion.
 */
function floorWhere(database: Database, layout: Layout, condition: RawBuilder<boolean>) {
  return sql<string | null>`case when ${condition} then ${selectFloor(database, layout)} end`;
}

/** The state and time of the row joined as `table`, or NULLs under the same names if it was not joined. */
function stateOf<Name extends SharedScope>(
  { queries: { json, time } }: Engine,
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
