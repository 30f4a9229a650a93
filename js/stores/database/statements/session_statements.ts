/** The queries that reads and writes share, on sessions and on the states of users and apps. */
import {
  type Compilable,
  type Expression,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
} from 'kysely';
import type { SharedScope } from '../../../values/state/scope.js';
import type { StorageKey } from '../../../core/storage/rows.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import type { Layout } from '../tables/layout.js';
import { Prepared, type Query } from '../engine/prepared.js';
import type { RevisionColumns } from '../tables/revisions.js';
import type { SessionColumns } from '../tables/rows.js';
import { type Database, METADATA } from '../tables/tables.js';

/** The key of a session, as the names of the statements' values. */
export interface Key {
  app: string;
  user: string;
  session: string;
}

/** Returns the columns of a storage key. A key of a user or an app has empty columns. */
export function keyOf({ appName, userId = '', sessionId = '' }: StorageKey): Key {
  return { app: appName, user: userId, session: sessionId };
}

/** Return the name of a shared state's owner, for maps and for the order of locks. An id may hold any character. */
export const ownerName = {
  app: ({ app }: Key) => app,
  user: ({ app, user }: Key) => `${app.length} ${app}${user}`,
} satisfies Record<SharedScope, unknown>;

/** The columns of a user's or an app's state. */
export interface StateColumns {
  state: string;
  update_time: StoredTime;
}

/** The columns of a session and its row in the side table, with the user's and the app's state. */
export interface MergedColumns extends SessionColumns, RevisionColumns {
  app_state: string | null;
  app_time: StoredTime | null;
  user_state: string | null;
  user_time: StoredTime | null;
}

/** Stands in a statement for a part of a session's key. */
export type KeyValue = (name: keyof Key) => string;

/** The condition that a row of `sessions` is the session. */
export function matchesSession(value: KeyValue, alias?: 'session'): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(alias === undefined ? name : `${alias}.${name}`);
  return sql`${column('app_name')} = ${value('app')} and ${column('user_id')} = ${value('user')}
    and ${column('id')} = ${value('session')}`;
}

/** The condition that a row of another table belongs to the session. */
export function isOfSession(value: KeyValue): RawBuilder<boolean> {
  return sql`${isUser(value)} and ${sql.ref('session_id')} = ${value('session')}`;
}

/**
 * The condition that an event belongs to the session, where another condition finds the event by its id.
 */
export function isAlsoOfSession(
  { indexes: { withoutIndex } }: Engine,
  value: (name: keyof Key) => unknown,
  alias: 'event' | 'events' = 'events',
): RawBuilder<boolean> {
  const column = (name: string) => withoutIndex(sql.ref(`${alias}.${name}`));
  return sql`${column('app_name')} = ${value('app')} and ${column('user_id')} = ${value('user')}
    and ${column('session_id')} = ${value('session')}`;
}

/** The condition that a row belongs to the user. */
export function isUser(value: (name: 'app' | 'user') => string): RawBuilder<boolean> {
  return sql`${sql.ref('app_name')} = ${value('app')} and ${sql.ref('user_id')} = ${value('user')}`;
}

/** The condition that joins the side table to the sessions. */
export const JOINS_SIDE_TABLE = sql<boolean>`side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id`;

/** The condition that joins the details to the sessions. */
export const JOINS_DETAILS = sql<boolean>`details.app_name = session.app_name and details.user_id = session.user_id
  and details.session_id = session.id and details.create_time = session.create_time`;

/** The title, the labels and the parent in the details. */
export function detailsColumns({ queries: { json } }: Engine) {
  return [
    sql<string | null>`${sql.ref('details.title')}`.as('title'),
    json(sql.ref<string | null>('details.labels')).as('labels'),
    json(sql.ref<string | null>('details.parent')).as('parent'),
  ] as const;
}

/** The columns of {@link StateColumns}. */
export function stateColumns({ queries: { json, time } }: Engine) {
  return [
    json(sql.ref('state')).as('state'),
    time(sql.ref('update_time')).as('update_time'),
  ] as const;
}

/** The columns of a session and of its row in the side table. */
export function sessionColumns({ queries: { json, time } }: Engine) {
  return [
    json(sql.ref('session.state')).as('state'),
    time(sql.ref('session.create_time')).as('create_time'),
    time(sql.ref('session.update_time')).as('update_time'),
    time(sql.ref('side.update_time')).as('side_time'),
    time(sql.ref('side.last_update_time')).as('last_update_time'),
    time(sql.ref('side.replaced_at')).as('replaced_at'),
  ] as const;
}

/** The columns of {@link RevisionColumns} that are computed from the events of the session. */
export function revisionColumns({ queries: { time } }: Engine) {
  const ofSession = sql`from ${sql.table('events')} as recent
    where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id`;
  const at = sql.ref('recent.timestamp');
  return [
    // MariaDB would read all events for a `max`, since the index descends.
    sql<StoredTime | null>`(select ${time(at)} ${ofSession} order by ${at} desc limit 1)`.as(
      'newest',
    ),
    sql<number | string>`(select count(*) ${ofSession} and ${at} >= session.update_time)`.as(
      'later',
    ),
  ] as const;
}

/** Orders a query of events as `eventOrder` of the engine says. */
export function inOrder<Known, From extends keyof Known, Columns>(
  engine: Engine,
  events: SelectQueryBuilder<Known, From, Columns>,
  order: 'asc' | 'desc',
): SelectQueryBuilder<Known, From, Columns> {
  type Ordered = SelectQueryBuilder<Known, From, Columns>;
  return engine.queries.eventOrder.reduce<Ordered>(
    (query, column) => query.orderBy(column, order),
    events,
  );
}

/** Selects the events of which a condition holds, unordered. */
export function selectEvents(database: Database, engine: Engine, condition: RawBuilder<boolean>) {
  return selectEventData(database, engine, condition)
    .select('invocation_id')
    .select((of) => engine.queries.time(of.ref('timestamp')).as('timestamp'));
}

/** Selects the same events with only the columns from which nearly every event can be read. */
export function selectEventData(
  database: Database,
  { queries: { json } }: Engine,
  condition: RawBuilder<boolean>,
) {
  return database
    .selectFrom('events')
    .where(condition)
    .select('id')
    .select((of) => json(of.ref('event_data')).as('event_data'));
}

/**
 * Selects these columns in order. If the engine `ordersBeforeJson`, the JSON is converted to text afterwards.
 */
export function selectEventDataInOrder(
  database: Database,
  engine: Engine,
  value: KeyValue,
): Compilable<{ id: string; event_data: string }> {
  const select = selectEventData(database, engine, isOfSession(value));
  if (!engine.queries.ordersBeforeJson) return inOrder(engine, select, 'asc');
  const columns = database
    .selectFrom('events')
    .where(isOfSession(value))
    .select(['id', 'event_data', 'timestamp']);
  // `offset(0)` keeps the subquery separate. The second `order by` costs nothing, since the rows are in
  // order.
  const rows = inOrder(engine, columns, 'asc').offset(0).as('ordered');
  return database
    .selectFrom(rows)
    .select('id')
    .select((of) => engine.queries.json(of.ref('event_data')).as('event_data'))
    .orderBy('ordered.timestamp')
    .orderBy('id');
}

/** The place of an event in the order of events. */
export interface EventOrder {
  time: StoredTime;
  tie: StoredTime;
}

/** Selects the place of an event. */
export function selectPlace(
  database: Database,
  engine: Engine,
  value: (name: keyof Key | 'event') => string,
) {
  const [time, tie] = engine.queries.eventOrder;
  return database
    .selectFrom('events')
    .where('id', '=', value('event'))
    .where(isAlsoOfSession(engine, value))
    .select([engine.queries.time(time).as('time'), sql<StoredTime>`${tie}`.as('tie')]);
}

/** Selects the floor. */
export function selectFloor(database: Database, { metadata }: Layout) {
  return database
    .selectFrom(`${metadata} as metadata`)
    .select('metadata.value')
    .where('metadata.key', '=', sql.lit(METADATA.floor));
}

/**
 * Makes the statement that fails unless a value is still the same: it then inserts a row whose `value` is missing.
 *
 * @param current selects the value. Without a row it counts as an empty text.
 */
export function guardStatement<Values>(
  database: Database,
  { metadata }: Layout,
  current: (value: <N extends keyof Values>(name: N) => Values[N]) => Expression<unknown>,
): (values: Values, seen: StoredTime | null | undefined) => Query {
  const guard = new Prepared<Values & { seen: StoredTime }, never>((value) =>
    database
      .insertInto(metadata)
      .columns(['key', 'value'])
      .expression(
        sql<never>`select 'adk_session_wasm_guard', null
        where coalesce((${current(value)}), '') <> ${value('seen')}`,
      ),
  );
  return (values, seen) => guard.of({ ...values, seen: seen ?? '' });
}

/** Makes the statements that reads and writes share. */
export function sessionStatements(database: Database, engine: Engine) {
  const { json, time } = engine.queries;
  return {
    /** Selects a session with the states of its user and its app. */
    merged: new Prepared<Key, MergedColumns>((value) =>
      database
        .selectFrom('sessions as session')
        .leftJoin('app_states as app', 'app.app_name', 'session.app_name')
        .leftJoin('user_states as owner', (join) =>
          join
            .onRef('owner.app_name', '=', 'session.app_name')
            .onRef('owner.user_id', '=', 'session.user_id'),
        )
        .leftJoin('adk_session_wasm_sessions as side', (join) => join.on(JOINS_SIDE_TABLE))
        .leftJoin('adk_session_wasm_details as details', (join) => join.on(JOINS_DETAILS))
        .select(sessionColumns(engine))
        .select(detailsColumns(engine))
        .select((of) => [
          json(of.ref('details.initial_state')).as('initial_state'),
          json(of.ref('app.state')).as('app_state'),
          time(of.ref('app.update_time')).as('app_time'),
          json(of.ref('owner.state')).as('user_state'),
          time(of.ref('owner.update_time')).as('user_time'),
        ])
        .select(revisionColumns(engine))
        .where(matchesSession(value, 'session')),
    ),
    app: new Prepared<Pick<Key, 'app'>, StateColumns>((value) =>
      database
        .selectFrom('app_states')
        .select(stateColumns(engine))
        .where('app_name', '=', value('app')),
    ),
    user: new Prepared<Pick<Key, 'app' | 'user'>, StateColumns>((value) =>
      database.selectFrom('user_states').select(stateColumns(engine)).where(isUser(value)),
    ),
  };
}
