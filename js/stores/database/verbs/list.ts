import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { compareValues, sortList, type TimedPlace } from '../../../core/storage/list_place.js';
import type { StorageListRequest } from '../../../core/storage/requests.js';
import type { Listing, SessionRow } from '../../../core/storage/rows.js';
import { parseMilliseconds } from '../../../values/python/micros.js';
import { cached, filledChunks, mostItems, nextPowerOfTwo } from '../statements/statement_sizes.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { Prepared, type Steps, together } from '../engine/prepared.js';
import { sharedRow, type SessionColumns } from '../tables/rows.js';
import {
  detailsColumns,
  isUser,
  JOINS_SIDE_TABLE,
  JOINS_DETAILS,
  sessionColumns,
  sessionStatements,
  type StateColumns,
  stateColumns,
} from '../statements/session_statements.js';
import type { Database, Tables } from '../tables/tables.js';
import type { VerbContext } from '../statements/verb_context.js';

/** The most users whose states one query reads. Engines limit the number of a query's parameters. */
const MAX_USERS = 1024;

/** The tables under their aliases in these queries. */
interface Aliased {
  session: Tables['sessions'];
  side: Tables['adk_session_wasm_sessions'];
}

type ListedColumns = SessionColumns & { user_id: string; id: string };

/** Names a session in a table beside `sessions`. */
interface SessionReference {
  user_id: string;
  session_id: string;
}

/** The columns of the tables that a list of all sessions reads. */
interface AllColumns {
  sessions: Pick<ListedColumns, 'user_id' | 'id' | 'state' | 'create_time' | 'update_time'>;
  side: SessionReference & { update_time: StoredTime; last_update_time: StoredTime };
  details: SessionReference & {
    create_time: StoredTime;
    title: string | null;
    labels: string | null;
    parent: string | null;
  };
}

/** The app, and if only one user's sessions are listed, the user. */
interface Owner {
  app: string;
  /** Empty if the sessions of all users are listed. */
  user: string;
}

/** The first and the last time of a page's sessions. */
interface Times {
  from: StoredTime;
  to: StoredTime;
}

/** The times of a page, and the number of sessions that the list has before the first of these times. */
interface PageTimes extends Times {
  readonly before: number;
}

/** Compares times with that of a place, for those that a list has after it. */
const AFTER = { asc: '>', desc: '<' } as const;

/** Compares times with a bound, for those that a list has before it or at it. */
const UP_TO = { asc: '<=', desc: '>=' } as const;

/**
 * Milliseconds by which a place's time is moved, so that no session is lost to rounding: columns may have
 * finer times than the microseconds of a place.
 */
const MARGIN = 0.001;

/**
 * The times of a page that is wanted: how many, in which order, and whether they lie after a place or within a bound.
 */
type TimesKey = readonly [
  most: number,
  order: 'asc' | 'desc',
  isAfter: boolean,
  isBounded?: boolean,
];

/** @param isOfUser whether the sessions of one user are listed; else those of all users of the app */
function pageStatements(database: Database, engine: Engine, isOfUser: boolean) {
  const { json, time } = engine.queries;
  type Value<Values> = <N extends keyof Values>(name: N) => Values[N];
  const sessionsOf = (value: Value<Owner>) => {
    const query = database
      .selectFrom('sessions as session')
      .where('session.app_name', '=', value('app'));
    return isOfUser ? query.where('session.user_id', '=', value('user')) : query;
  };
  /** Joins the side table's row of each session, if its `update_time` is the session's. */
  const withSideTable = (value: Value<Owner>) =>
    sessionsOf(value).leftJoin('adk_session_wasm_sessions as side', (join) =>
      join.on(JOINS_SIDE_TABLE).onRef('side.update_time', '=', 'session.update_time'),
    );
  /** Selects only the sessions without such a row. */
  const fromSessions = (value: Value<Owner>) =>
    withSideTable(value).where('side.session_id', 'is', null);
  /**
   * Selects only the sessions with such a row. Starts at the side table, so that its index is used. An inner join
   * would let MariaDB read all sessions first. No engine knows that the `case` needs a session, so all keep to the
   * left join. PostgreSQL takes equal times for rare and would sort all rows, but expects half of them of a `case`.
   */
  const fromSideTable = (value: Value<Owner>) => {
    const query = database
      .selectFrom('adk_session_wasm_sessions as side')
      .leftJoin('sessions as session', (join) => join.on(JOINS_SIDE_TABLE))
      .where(
        sql<boolean>`case when session.update_time = side.update_time then true else false end`,
      )
      .where('side.app_name', '=', value('app'));
    return isOfUser ? query.where('side.user_id', '=', value('user')) : query;
  };
  type ListQuery = SelectQueryBuilder<Tables & Aliased, 'session' | 'side', object>;
  /**
   * Makes the statements over some sessions.
   *
   * @param at the time by which they are listed
   * @param fromTimes selects the same sessions, if their times alone need fewer tables
   */
  const sessionsBy = <Values extends Owner>(
    at: RawBuilder<StoredTime>,
    from: (value: Value<Values>) => ListQuery,
    fromTimes: (value: Value<Values>) => ListQuery = from,
  ) => {
    const rows = (value: Value<Values>) =>
      from(value)
        .leftJoin('adk_session_wasm_details as details', (join) => join.on(JOINS_DETAILS))
        .select(['session.user_id', 'session.id'])
        .select(sessionColumns(engine))
        .select(detailsColumns(engine));
    return {
      between: new Prepared<Values & Times, ListedColumns>((value) =>
        rows(value).where(at, '>=', value('from')).where(at, '<=', value('to')),
      ),
      times: cached(
        ([most, order, isAfter, isBounded = false]: TimesKey) =>
          new Prepared<Values & { place: StoredTime; bound: StoredTime }, { time: StoredTime }>(
            (value) => {
              // The limit is a part of the statement. PostgreSQL estimates an unknown limit at a tenth of all rows.
              // A generic plan then looks dearer than one for the given values, so PostgreSQL would plan each page
              // again.
              const ordered = fromTimes(value).select(time(at).as('time')).orderBy(at, order);
              const all = ordered.limit(sql.lit(most));
              const query = isAfter ? all.where(at, AFTER[order], value('place')) : all;
              return isBounded ? query.where(at, UP_TO[order], value('bound')) : query;
            },
          ),
      ),
    };
  };
  const created = sql.ref<StoredTime>('session.create_time');
  const isOfOwner = (value: Value<Owner>) =>
    isOfUser ? isUser(value) : sql<boolean>`${sql.ref('app_name')} = ${value('app')}`;
  return {
    all: {
      sessions: new Prepared<Owner, AllColumns['sessions']>((value) =>
        database
          .selectFrom('sessions')
          .where(isOfOwner(value))
          .select((of) => [
            'user_id',
            'id',
            json(of.ref('state')).as('state'),
            time(of.ref('create_time')).as('create_time'),
            time(of.ref('update_time')).as('update_time'),
          ]),
      ),
      side: new Prepared<Owner, AllColumns['side']>((value) =>
        database
          .selectFrom('adk_session_wasm_sessions as side')
          .where(isOfOwner(value))
          .select((of) => [
            'user_id',
            'session_id',
            time(of.ref('update_time')).as('update_time'),
            time(of.ref('last_update_time')).as('last_update_time'),
          ]),
      ),
      details: new Prepared<Owner, AllColumns['details']>((value) =>
        database
          .selectFrom('adk_session_wasm_details as details')
          .where(isOfOwner(value))
          .select((of) => [
            'user_id',
            'session_id',
            time(of.ref('create_time')).as('create_time'),
            'title',
            json(of.ref('labels')).as('labels'),
            json(of.ref('parent')).as('parent'),
          ]),
      ),
    },
    count: new Prepared<Owner, { rows: number | string | bigint }>((value) =>
      sessionsOf(value).select(({ fn }) => fn.countAll().as('rows')),
    ),
    creation: sessionsBy<Owner>(created, withSideTable, sessionsOf),
    sessions: sessionsBy<Owner>(sql.ref('session.update_time'), fromSessions),
    sideTable: sessionsBy<Owner>(sql.ref('side.last_update_time'), fromSideTable),
  };
}

/** Makes the statements of {@link list}. */
export function listStatements(database: Database, engine: Engine) {
  return {
    ofUser: pageStatements(database, engine, true),
    ofAllUsers: pageStatements(database, engine, false),
    users: cached(
      (users: number) =>
        new Prepared<
          { app: string } & Record<`user${number}`, string>,
          StateColumns & { user_id: string }
        >((value) =>
          database
            .selectFrom('user_states')
            .select('user_id')
            .select(stateColumns(engine))
            .where('app_name', '=', value('app'))
            .where(
              'user_id',
              'in',
              Array.from({ length: users }, (_, index) => value(`user${index}`)),
            ),
        ),
    ),
  };
}

/**
 * Lists a page of sessions by `createTime` or `lastUpdateTime`. The latter is `update_time`, unless the side
 * table has another time for the session. Each column has an index, and a page by `lastUpdateTime` is merged from
 * two. One `order by` over both columns could use neither index and would sort all sessions.
 *
 * Ties are ordered by id as JavaScript compares strings. No engine can do that: SQL orders astral characters
 * behind U+E000 to U+FFFF. So all sessions with the page's first and last time are read, and the page is cut
 * here.
 */
export function* list(context: VerbContext, request: StorageListRequest): Steps<Listing> {
  const { layout, sessionRows, statements } = context;
  const { appName, userId, order, offset, limit, withTotal = true, after } = request;
  const { orderBy = 'lastUpdateTime' } = request;
  const owner = { app: appName, user: userId ?? '' };
  const { ofAllUsers, ofUser } = statements(listStatements);
  const ofOwner = userId === undefined ? ofAllUsers : ofUser;
  // Absent if the list is merged from two.
  const single = orderBy === 'createTime' ? ofOwner.creation : undefined;
  const timeWithMargin = (milliseconds: number, isBeyond: boolean) =>
    layout.timeOf(Math.max(0, milliseconds + (isBeyond === (order === 'asc') ? MARGIN : -MARGIN)));
  const isAfter = after !== undefined;
  const size = nextPowerOfTwo(offset + (limit ?? 0));
  const place = after === undefined ? '' : timeWithMargin(after[orderBy] ?? 0, true);
  const first = { ...owner, place, bound: '' };
  const states = statements(sessionStatements);
  const isAll = limit === undefined;
  const [[app], [user], all, side, details, counted, firstTimes] = yield* together([
    states.app.of(owner),
    userId === undefined ? undefined : states.user.of(owner),
    isAll ? ofOwner.all.sessions.of(owner) : undefined,
    isAll ? ofOwner.all.side.of(owner) : undefined,
    isAll ? ofOwner.all.details.of(owner) : undefined,
    isAll || !withTotal ? undefined : ofOwner.count.of(owner),
    limit ? (single ?? ofOwner.sideTable).times([size, order, isAfter]).of(first) : undefined,
  ]);
  let pageTimes = firstTimes;
  if (single === undefined && limit) {
    // The page has no time behind this one. Without the bound, the query would pass over all sessions that have
    // a row in the side table.
    const bound = firstTimes[size - 1]?.time;
    const times = ofOwner.sessions.times([size, order, isAfter, bound !== undefined]);
    pageTimes = [...firstTimes, ...(yield* times.run({ ...first, bound: bound ?? '' }))];
  }
  const times = after
    ? timesAfterPlace(pageTimes, request, after, timeWithMargin)
    : timesOfPage(pageTimes, request);
  const between = times && { ...owner, ...times };
  const [ofSessions, ofSideTable] = between
    ? yield* together(
        [
          (single ?? ofOwner.sessions).between.of(between),
          single ? undefined : ofOwner.sideTable.between.of(between),
        ],
        user !== undefined,
      )
    : [joined(all, side, details), []];
  const rows = [...ofSessions, ...ofSideTable].map((row) => {
    return sessionRows.readListed({ appName, userId: row.user_id, sessionId: row.id }, row);
  });
  const start = offset - (times?.before ?? 0);
  const sessions = sortList(rows, request).slice(
    start,
    limit === undefined ? undefined : start + limit,
  );
  // The sessions are counted each time. A stored counter would go wrong, because Python's services create and
  // delete sessions in the same tables.
  const total = withTotal ? Number(counted[0]?.rows ?? rows.length) : undefined;
  return {
    sessions,
    users: user
      ? [{ userId: owner.user, ...sharedRow(user.state, user.update_time) }]
      : yield* readUsers(context, appName, sessions),
    app: app && sharedRow(app.state, app.update_time),
    total,
  };
}

/**
 * Joins the rows of all sessions with those beside them. In SQL, PostgreSQL without statistics would compare each session
 * with each of the other rows.
 */
function joined(
  sessions: readonly AllColumns['sessions'][],
  side: readonly AllColumns['side'][],
  details: readonly AllColumns['details'][],
): ListedColumns[] {
  const sideOf = bySession(side);
  const detailsOf = bySession(details);
  return sessions.map(({ user_id, id, state, create_time, update_time }) => {
    const times = sideOf.get(user_id)?.get(id);
    const stored = detailsOf.get(user_id)?.get(id);
    // Those of a session that had the id before stay if Python deletes it without foreign keys.
    const described = stored?.create_time === create_time ? stored : undefined;
    return {
      user_id,
      id,
      state,
      create_time,
      update_time,
      side_time: times?.update_time ?? null,
      last_update_time: times?.last_update_time ?? null,
      title: described?.title ?? null,
      labels: described?.labels ?? null,
      parent: described?.parent ?? null,
    };
  });
}

/** Returns rows by user and session. */
function bySession<Row extends SessionReference>(rows: readonly Row[]) {
  const users = new Map<string, Map<string, Row>>();
  for (const row of rows) {
    const ofUser = users.get(row.user_id) ?? new Map<string, Row>();
    users.set(row.user_id, ofUser);
    ofUser.set(row.session_id, row);
  }
  return users;
}

/** @returns `undefined` if the page is empty, or if all sessions are listed */
function timesOfPage(
  rows: readonly { time: StoredTime }[],
  { offset, limit = 0, order }: StorageListRequest,
): PageTimes | undefined {
  const times = sortedTimes(rows, order);
  const first = times[offset];
  const last = times[offset + limit - 1] ?? times.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = order === 'asc' ? [first, last] : [last, first];
  return { from, to, before: times.indexOf(first) };
}

/** Returns the times from a place, whose ties may lie after it, to the last of `limit` sessions beyond. */
function timesAfterPlace(
  rows: readonly { time: StoredTime }[],
  { limit = 0, order, orderBy = 'lastUpdateTime' }: StorageListRequest,
  { [orderBy]: time = 0 }: TimedPlace,
  timeWithMargin: (milliseconds: number, isBeyond: boolean) => StoredTime,
): PageTimes {
  const times = sortedTimes(rows, order);
  const last = parseMilliseconds(times[limit - 1] ?? times.at(-1)) ?? time;
  const start = timeWithMargin(time, false);
  const end = timeWithMargin(last, true);
  const [from, to] = order === 'asc' ? [start, end] : [end, start];
  return { from, to, before: 0 };
}

function sortedTimes(rows: readonly { time: StoredTime }[], order: 'asc' | 'desc'): StoredTime[] {
  const times = rows.map((row) => row.time).sort(compareValues);
  return order === 'asc' ? times : times.reverse();
}

/** Reads the states of the users who own these sessions. */
function* readUsers(
  { engine, statements }: VerbContext,
  app: string,
  sessions: readonly SessionRow[],
): Steps<Listing['users'][number][]> {
  const users = [...new Set(sessions.map(({ userId }) => userId))];
  const queries = [...filledChunks(users, mostItems(engine, MAX_USERS))].map((some) => {
    const values: { app: string } & Record<`user${number}`, string> = { app };
    for (const [index, user] of some.entries()) values[`user${index}`] = user;
    return statements(listStatements).users(some.length).of(values);
  });
  // Sessions that others change meanwhile would otherwise let a list of all begin again and again.
  const rows = (yield* together(queries, true, true)).flat();
  return rows.map(({ user_id: userId, state, update_time: time }) => ({
    userId,
    ...sharedRow(state, time),
  }));
}
