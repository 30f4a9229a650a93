import { type ExpressionBuilder, sql } from 'kysely';
import {
  compareValues,
  type ListTime,
  sortList,
  type TimedPlace,
} from '../../storage/list_place.js';
import type { BuiltInListRequest } from '../../storage/built_in_adapter.js';
import type { Listing, SessionRow } from '../../storage/rows.js';
import { parseMilliseconds } from '../../python/micros.js';
import type { Layout } from '../tables/layout.js';
import { cached, filledChunks, nextPowerOfTwo } from './statement_sizes.js';
import type { Engine, StoredTime } from '../engines/engine.js';
import { Prepared, type Steps, together } from '../transactions/prepared.js';
import { sharedRow, type SessionColumns, sessionRow } from '../tables/rows.js';
import {
  detailsColumns,
  IS_BESIDE,
  IS_DETAILS,
  type SessionStatements,
  type StateColumns,
  stateColumns,
} from './session_statements.js';
import type { Database, Tables } from '../tables/tables.js';
import { countTerms, selectWithTerms, type Wanted, wantedTerms } from './terms.js';

/** The most users whose states one query reads. Engines limit the number of a query's parameters. */
const MAX_USERS = 1024;

/** The tables under the aliases of these queries. */
interface Aliased {
  s: Tables['sessions'];
  k: Tables['adk_session_wasm_sessions'];
}

type ListedColumns = SessionColumns & { user_id: string; id: string };

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
interface Stretch extends Times {
  readonly before: number;
}

/** Compares times with that of a place, for those that a list has after it. */
const BEYOND = { asc: '>', desc: '<' } as const;

/** Compares times with a bound, for those that a list has before it or at it. */
const WITHIN = { asc: '<=', desc: '>=' } as const;

/**
 * Milliseconds by which a place's time is moved, so that no session is lost to rounding: columns may have
 * finer times than the microseconds of a place.
 */
const MARGIN = 0.001;

/** @param isOfUser whether the sessions of one user are listed; else those of all users of the app */
function pageStatements(database: Database, engine: Engine, isOfUser: boolean) {
  const { json, time } = engine;
  type Value = <N extends keyof Owner>(name: N) => Owner[N];
  const sessionsOf = (value: Value) => {
    const query = database.selectFrom('sessions as s').where('s.app_name', '=', value('app'));
    return isOfUser ? query.where('s.user_id', '=', value('user')) : query;
  };
  /** Joins the side table's row of each session, if its `update_time` is the session's. */
  const withSideTable = (value: Value) =>
    sessionsOf(value).leftJoin('adk_session_wasm_sessions as k', (join) =>
      join.on(IS_BESIDE).onRef('k.update_time', '=', 's.update_time'),
    );
  /**
   * Selects only the sessions with such a row. Starts at the side table, so that its index is used. An inner join
   * would let MariaDB read all sessions first. No engine knows that the `case` needs a session, so all keep to the
   * left join. PostgreSQL takes equal times for rare and would sort all rows, but expects half of them of a `case`.
   */
  const fromSideTable = (value: Value) => {
    const query = database
      .selectFrom('adk_session_wasm_sessions as k')
      .leftJoin('sessions as s', (join) => join.on(IS_BESIDE))
      .where(sql<boolean>`case when s.update_time = k.update_time then true else false end`)
      .where('k.app_name', '=', value('app'));
    return isOfUser ? query.where('k.user_id', '=', value('user')) : query;
  };
  const columns = (of: ExpressionBuilder<Aliased, 's' | 'k'>) =>
    [
      of.ref('s.user_id').as('user_id'),
      of.ref('s.id').as('id'),
      json(of.ref('s.state')).as('state'),
      time(of.ref('s.create_time')).as('create_time'),
      time(of.ref('s.update_time')).as('update_time'),
      time(of.ref('k.update_time')).as('side_time'),
      time(of.ref('k.last_update_time')).as('last_update_time'),
    ] as const;
  const withDetails = (value: Value) =>
    withSideTable(value)
      .leftJoin('adk_session_wasm_details as d', (join) => join.on(IS_DETAILS))
      .select(columns)
      .select(detailsColumns(engine));
  // The limit is a part of the statement. PostgreSQL estimates an unknown limit at a tenth of all rows. A generic
  // plan then looks dearer than one for the given values, so PostgreSQL would plan each page again.
  type After = Owner & { place: StoredTime };
  /** The sessions without a row in the side table. */
  const sessionTimes =
    (isBounded: boolean) => (most: number, order: 'asc' | 'desc', isAfter: boolean) =>
      new Prepared<After & { bound: StoredTime }, { time: StoredTime }>((value) => {
        const all = withSideTable(value)
          .where('k.session_id', 'is', null)
          .select((of) => time(of.ref('s.update_time')).as('time'))
          .orderBy('s.update_time', order)
          .limit(sql.lit(most));
        const query = isAfter ? all.where('s.update_time', BEYOND[order], value('place')) : all;
        return isBounded ? query.where('s.update_time', WITHIN[order], value('bound')) : query;
      });
  const sideTableTimes = (most: number, order: 'asc' | 'desc', isAfter: boolean) =>
    new Prepared<After, { time: StoredTime }>((value) => {
      const query = fromSideTable(value)
        .select((of) => time(of.ref('k.last_update_time')).as('time'))
        .orderBy('k.last_update_time', order)
        .limit(sql.lit(most));
      return isAfter ? query.where('k.last_update_time', BEYOND[order], value('place')) : query;
    });
  const creationTimes = (most: number, order: 'asc' | 'desc', isAfter: boolean) =>
    new Prepared<After, { time: StoredTime }>((value) => {
      const query = sessionsOf(value)
        .select((of) => time(of.ref('s.create_time')).as('time'))
        .orderBy('s.create_time', order)
        .limit(sql.lit(most));
      return isAfter ? query.where('s.create_time', BEYOND[order], value('place')) : query;
    });
  const times = (isAfter: boolean) =>
    cached((most: number) => {
      const inBoth = <Made>(
        make: (most: number, order: 'asc' | 'desc', isAfter: boolean) => Made,
      ) => ({
        asc: make(most, 'asc', isAfter),
        desc: make(most, 'desc', isAfter),
      });
      return {
        creation: inBoth(creationTimes),
        sessions: inBoth(sessionTimes(false)),
        boundedSessions: inBoth(sessionTimes(true)),
        sideTable: inBoth(sideTableTimes),
      };
    });
  /** The sessions with terms in so many ranges, in the order of a list. */
  const matching = (ranges: number, orderBy: ListTime) => {
    type Wants = Owner & Wanted;
    const from = (value: <N extends keyof Wants>(name: N) => Wants[N]) =>
      database
        .selectFrom(selectWithTerms(database, value, isOfUser, ranges))
        .innerJoin('sessions as s', (join) =>
          join
            .on('s.app_name', '=', value('app'))
            .onRef('s.user_id', '=', 'm.user_id')
            .onRef('s.id', '=', 'm.session_id'),
        )
        .leftJoin('adk_session_wasm_sessions as k', (join) =>
          join.on(IS_BESIDE).onRef('k.update_time', '=', 's.update_time'),
        );
    const at =
      orderBy === 'createTime'
        ? sql<StoredTime>`s.create_time`
        : sql<StoredTime>`coalesce(k.last_update_time, s.update_time)`;
    const rows = (value: <N extends keyof Wants>(name: N) => Wants[N]) =>
      from(value)
        .leftJoin('adk_session_wasm_details as d', (join) => join.on(IS_DETAILS))
        .select(columns)
        .select(detailsColumns(engine));
    const timesIn = (most: number, order: 'asc' | 'desc', isAfter: boolean) =>
      new Prepared<After & Wanted, { time: StoredTime }>((value) => {
        const query = from(value).select(time(at).as('time')).orderBy(at, order);
        const page = query.limit(sql.lit(most));
        return isAfter ? page.where(at, BEYOND[order], value('place')) : page;
      });
    const times = (isAfter: boolean) =>
      cached((most: number) => ({
        asc: timesIn(most, 'asc', isAfter),
        desc: timesIn(most, 'desc', isAfter),
      }));
    return {
      all: new Prepared<Wants, ListedColumns>(rows),
      between: new Prepared<Wants & Times, ListedColumns>((value) =>
        rows(value).where(at, '>=', value('from')).where(at, '<=', value('to')),
      ),
      times: times(false),
      timesAfter: times(true),
    };
  };
  return {
    matching: {
      lastUpdateTime: cached((ranges: number) => matching(ranges, 'lastUpdateTime')),
      createTime: cached((ranges: number) => matching(ranges, 'createTime')),
    },
    count: new Prepared<Owner, { rows: number | string | bigint }>((value) =>
      sessionsOf(value).select(({ fn }) => fn.countAll().as('rows')),
    ),
    countTerms: countTerms(database, isOfUser),
    times: times(false),
    timesAfter: times(true),
    all: new Prepared<Owner, ListedColumns>(withDetails),
    fromSessions: new Prepared<Owner & Times, ListedColumns>((value) =>
      withDetails(value)
        .where('k.session_id', 'is', null)
        .where('s.update_time', '>=', value('from'))
        .where('s.update_time', '<=', value('to')),
    ),
    byCreation: new Prepared<Owner & Times, ListedColumns>((value) =>
      withDetails(value)
        .where('s.create_time', '>=', value('from'))
        .where('s.create_time', '<=', value('to')),
    ),
    fromSideTable: new Prepared<Owner & Times, ListedColumns>((value) =>
      fromSideTable(value)
        .leftJoin('adk_session_wasm_details as d', (join) => join.on(IS_DETAILS))
        .select(columns)
        .select(detailsColumns(engine))
        .where('k.last_update_time', '>=', value('from'))
        .where('k.last_update_time', '<=', value('to')),
    ),
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

export type ListStatements = ReturnType<typeof listStatements>;

/**
 * Lists a page of sessions by `createTime` or `lastUpdateTime`. The latter is `update_time`, unless the side
 * table has another time for the session. Each column has an index, and a page by `lastUpdateTime` is merged from
 * two. One `order by` over both columns could use neither index and would sort all sessions.
 *
 * Ties are ordered by id as JavaScript compares strings. No engine can do that: SQL orders astral characters
 * behind U+E000 to U+FFFF. So all sessions with the page's first and last time are read, and the page is cut
 * here.
 *
 * @param hasTerms whether all titles and labels have their terms
 */
export function* list(
  statements: ListStatements & SessionStatements,
  { timeOf }: Layout,
  hasTerms: boolean,
  request: BuiltInListRequest,
): Steps<Listing> {
  const { appName, userId, order, offset, limit, withTotal = true, after } = request;
  const { orderBy = 'lastUpdateTime' } = request;
  const byCreation = orderBy === 'createTime';
  const terms = hasTerms ? (request.terms ?? []) : [];
  const named = { app: appName, user: userId ?? '' };
  const ofOwner = userId === undefined ? statements.ofAllUsers : statements.ofUser;
  const { wanted, ranges } = yield* wantedTerms(ofOwner.countTerms, named, terms);
  const owner = { ...named, ...wanted };
  const matching = ranges === 0 ? undefined : ofOwner.matching[orderBy](ranges);
  const timeBeside = (milliseconds: number, isBeyond: boolean) =>
    timeOf(Math.max(0, milliseconds + (isBeyond === (order === 'asc') ? MARGIN : -MARGIN)));
  const kind = after === undefined ? 'times' : 'timesAfter';
  const size = nextPowerOfTwo(offset + (limit ?? 0));
  const times = ofOwner[kind](size);
  const place = after === undefined ? '' : timeBeside(after[orderBy] ?? 0, true);
  const timesInOrder = matching?.[kind](size) ?? (byCreation ? times.creation : undefined);
  const isMerged = timesInOrder === undefined;
  const first = limit ? { ...owner, place } : undefined;
  const [[app], [user], all, counted, firstTimes] = yield* together([
    statements.app.of(named),
    userId === undefined ? undefined : statements.user.of(named),
    limit === undefined ? (matching ?? ofOwner).all.of(owner) : undefined,
    limit === undefined || !withTotal ? undefined : ofOwner.count.of(owner),
    first && (timesInOrder ?? times.sideTable)[order].of(first),
  ]);
  let found = firstTimes;
  if (isMerged && first) {
    // The page has no time behind this one. Without the bound, the query would pass over all sessions that have
    // a row in the side table.
    const bound = firstTimes[size - 1]?.time;
    const sessionTimes = bound === undefined ? times.sessions : times.boundedSessions;
    const others = yield* sessionTimes[order].run({ bound: bound ?? '', ...first });
    found = [...firstTimes, ...others];
  }
  const stretch = after
    ? stretchAfter(found, request, after, timeBeside)
    : stretchOf(found, request);
  const between = stretch && { ...owner, ...stretch };
  const sessionsBetween =
    matching?.between ?? (byCreation ? ofOwner.byCreation : ofOwner.fromSessions);
  const sideTableBetween = isMerged ? ofOwner.fromSideTable : undefined;
  const [ofSessions, ofSideTable] = between
    ? yield* together(
        [sessionsBetween.of(between), sideTableBetween?.of(between)],
        user !== undefined,
      )
    : [all, []];
  const rows = [...ofSessions, ...ofSideTable].map((row) => {
    return sessionRow({ appName, userId: row.user_id, sessionId: row.id }, row);
  });
  const start = offset - (stretch?.before ?? 0);
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
      ? [{ userId: named.user, ...sharedRow(user.state, user.update_time) }]
      : yield* readUsers(statements, appName, sessions),
    app: app && sharedRow(app.state, app.update_time),
    total,
  };
}

/** @returns `undefined` if the page is empty, or if all sessions are listed */
function stretchOf(
  rows: readonly { time: StoredTime }[],
  { offset, limit = 0, order }: BuiltInListRequest,
): Stretch | undefined {
  const times = sortedTimes(rows, order);
  const first = times[offset];
  const last = times[offset + limit - 1] ?? times.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = order === 'asc' ? [first, last] : [last, first];
  return { from, to, before: times.indexOf(first) };
}

/** Returns the times from a place, whose ties may lie after it, to the last of `limit` sessions beyond. */
function stretchAfter(
  rows: readonly { time: StoredTime }[],
  { limit = 0, order, orderBy = 'lastUpdateTime' }: BuiltInListRequest,
  { [orderBy]: time = 0 }: TimedPlace,
  timeBeside: (milliseconds: number, isBeyond: boolean) => StoredTime,
): Stretch {
  const times = sortedTimes(rows, order);
  const last = parseMilliseconds(times[limit - 1] ?? times.at(-1)) ?? time;
  const near = timeBeside(time, false);
  const far = timeBeside(last, true);
  const [from, to] = order === 'asc' ? [near, far] : [far, near];
  return { from, to, before: 0 };
}

function sortedTimes(rows: readonly { time: StoredTime }[], order: 'asc' | 'desc'): StoredTime[] {
  const times = rows.map((row) => row.time).sort(compareValues);
  return order === 'asc' ? times : times.reverse();
}

/** Reads the states of the users who own these sessions. */
function* readUsers(
  statements: ListStatements,
  app: string,
  sessions: readonly SessionRow[],
): Steps<Listing['users'][number][]> {
  const users = [...new Set(sessions.map(({ userId }) => userId))];
  const queries = [...filledChunks(users, MAX_USERS)].map((some) => {
    const values: { app: string } & Record<`user${number}`, string> = { app };
    for (const [index, user] of some.entries()) values[`user${index}`] = user;
    return statements.users(some.length).of(values);
  });
  const rows = (yield* together(queries, true)).flat();
  return rows.map(({ user_id: userId, state, update_time: time }) => ({
    userId,
    ...sharedRow(state, time),
  }));
}
