import type { ParsedRows } from '../../../core/storage/store.js';
import { MAX_TIMESTAMP } from '../../../values/model/values/time.js';
import { type Compilable, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Event } from '../../../values/model/event/event.js';
import type { StoragePageRequest, StorageReadRequest } from '../../../core/storage/requests.js';
import { NO_ROWS, type PageRows, type Rows, type StorageKey } from '../../../core/storage/rows.js';
import type { Engine } from '../engine/engine.js';
import { parsedEvent } from '../tables/event_data.js';
import type { Layout } from '../tables/layout.js';
import { Prepared, type Query, type Steps, together } from '../engine/prepared.js';
import type { SessionRows } from '../tables/session_rows.js';
import {
  adkEventRow,
  type EventColumns,
  type EventDataColumns,
  eventRow,
  joinedState,
  sharedRow,
} from '../tables/rows.js';
import {
  inOrder,
  type Key,
  type KeyValue,
  type MergedColumns,
  isOfSession,
  type EventOrder,
  selectPlace,
  selectEventData,
  selectEventDataInOrder,
  selectEvents,
  sessionStatements,
  keyOf,
} from '../statements/session_statements.js';
import type { Database, Tables } from '../tables/tables.js';
import { readTogether } from '../transactions/lookup.js';
import { changedEvents } from './current_rows.js';
import type { VerbContext } from '../statements/verb_context.js';

/** Makes the statements of {@link read} and {@link readParsed}. */
export function readStatements(database: Database, engine: Engine, { service }: Layout) {
  type SelectEvents<Columns> = (value: KeyValue) => SelectQueryBuilder<Tables, 'events', Columns>;
  const windows = <Columns>(
    select: SelectEvents<Columns>,
    all: (value: KeyValue) => Compilable<Columns> = (value) =>
      inOrder(engine, select(value), 'asc'),
  ): WindowStatements<Columns> => ({
    all: new Prepared(all),
    last: new Prepared((value) => inOrder(engine, select(value), 'desc').limit(value('last'))),
    since: new Prepared((value) =>
      inOrder(engine, select(value), 'asc').where((of) =>
        engine.queries.mayBeSince(of.ref('event_data'), of.val(value('seconds'))),
      ),
    ),
  });
  const selectRows: SelectEvents<EventColumns> = (value) =>
    selectEvents(database, engine, isOfSession(value));
  const page = (direction: 'before' | 'after', isAtEvent: boolean) =>
    new Prepared<PageValues, EventColumns>((value) => {
      const order = direction === 'after' ? 'asc' : 'desc';
      const isRange = isAtEvent && engine.indexes.pagesByRange;
      const rows = isRange
        ? inIndexOrder(selectEvents(database, engine, isRangeOfSession(value)), order)
        : selectRows(value);
      const page = isAtEvent ? rows.where(isBeyond(engine, direction, value)) : rows;
      return inOrder(engine, page, order).limit(value('limit'));
    });
  const pages = (isAtEvent: boolean) => ({
    before: page('before', isAtEvent),
    after: page('after', isAtEvent),
  });
  return {
    pages: { atEvent: pages(true), atEnd: pages(false) },
    place: new Prepared<Key & { event: string }, EventOrder>((value) =>
      selectPlace(database, engine, value),
    ),
    eventCount: new Prepared<Key, { count: number | string | bigint }>((value) =>
      database
        .selectFrom('events')
        .where(isOfSession(value))
        .select((of) => of.fn.countAll<number | string | bigint>().as('count')),
    ),
    rowOf: service === '@google/adk' ? adkEventRow : eventRow,
    rows: windows(selectRows),
    jsons: windows(
      (value) => selectEventData(database, engine, isOfSession(value)),
      (value) => selectEventDataInOrder(database, engine, value),
    ),
  };
}

type PageValues = Key & EventOrder & { limit: number };

/**
 * The condition that an event stands before or after the one at a place. The place is a value and no subquery:
 * MariaDB would then read all events of the session.
 */
function isBeyond(
  {
    queries: {
      eventOrder: [time, tie],
    },
  }: Engine,
  direction: 'before' | 'after',
  value: (name: keyof EventOrder) => unknown,
): RawBuilder<boolean> {
  const comparison = sql.raw(direction === 'before' ? '<' : '>');
  // The first condition alone is a range of the index.
  return sql`${time} ${comparison}= ${value('time')}
    and (${time} ${comparison} ${value('time')} or ${tie} ${comparison} ${value('tie')})`;
}

const VALUE_OF_COLUMN = { app_name: 'app', user_id: 'user', session_id: 'session' } as const;
const KEY_COLUMNS = Object.keys(VALUE_OF_COLUMN) as (keyof typeof VALUE_OF_COLUMN)[];

/**
 * The condition that an event belongs to the session, without `=`. With `=` MariaDB reads the session from its
 * end, and skips all events up to the place of a page.
 */
function isRangeOfSession(value: KeyValue): RawBuilder<boolean> {
  const conditions = KEY_COLUMNS.map((column) => {
    const part = value(VALUE_OF_COLUMN[column]);
    return sql`${sql.ref(column)} >= ${part} and ${sql.ref(column)} <= ${part}`;
  });
  return sql`${sql.join(conditions, sql` and `)}`;
}

/**
 * Orders events by the columns of their index that precede those of {@link inOrder}. For MariaDB they are not
 * constant without `=`. The index ascends in these columns and descends in the others.
 */
function inIndexOrder<Columns>(
  rows: SelectQueryBuilder<Tables, 'events', Columns>,
  order: 'asc' | 'desc',
): SelectQueryBuilder<Tables, 'events', Columns> {
  const opposite = order === 'asc' ? 'desc' : 'asc';
  return KEY_COLUMNS.reduce((query, column) => query.orderBy(column, opposite), rows);
}

interface WindowStatements<Columns> {
  all: Prepared<Key, Columns>;
  last: Prepared<Key & { last: number }, Columns>;
  since: Prepared<Key & { seconds: number }, Columns>;
}

/** Reads a session with a window of its events, or the states of a user and an app. */
export function* read(context: VerbContext, { key, window }: StorageReadRequest): Steps<Rows> {
  const { sessionRows, statements } = context;
  const { appName, userId = '', sessionId } = key;
  if (sessionId === undefined) return yield* readStates(context, appName, key.userId);
  if (window.since !== undefined)
    return yield* readChanged(context, key, window.since, window.last);
  const values = keyOf(key);
  const { merged } = statements(sessionStatements);
  const { rows, rowOf } = statements(readStatements);
  const query = eventsOf(rows, values, window);
  const [[row], columns] = yield* together([merged.of(values), query], true);
  if (row === undefined) return NO_ROWS;
  return {
    ...mergedRows(sessionRows, { appName, userId, sessionId }, row),
    events: within(window, columns.map(rowOf)),
  };
}

/** Reads a session with the events that have changed since a revision, and the states. */
function* readChanged(
  context: VerbContext,
  { appName, userId = '', sessionId = '' }: StorageKey,
  since: number,
  limit: number | undefined,
): Steps<Rows> {
  const { sessionRows, statements } = context;
  const key = { appName, userId, sessionId };
  const values = keyOf(key);
  const { merged } = statements(sessionStatements);
  const [[columns]] = yield* together([merged.of(values)]);
  if (columns === undefined) return NO_ROWS;
  const rows = mergedRows(sessionRows, key, columns);
  const { session } = rows;
  const changed = changedEvents(context, { key: values, since, session, columns, limit });
  const [events] = yield* readTogether([changed], true);
  return { ...rows, events };
}

/** Reads a page of a session's events. */
export function* readPage(
  { sessionRows, statements }: VerbContext,
  { key, direction, eventId, limit, withCount }: StoragePageRequest,
): Steps<PageRows> {
  const values = keyOf(key);
  const { merged } = statements(sessionStatements);
  const { eventCount, pages, place: placeOf, rowOf } = statements(readStatements);
  const head = [
    merged.of(values),
    withCount === false ? undefined : eventCount.of(values),
  ] as const;
  const atEnd = pages.atEnd[direction].of({ ...values, limit, time: 0, tie: 0 });
  const isAtEvent = eventId !== undefined;
  const at = isAtEvent ? placeOf.of({ ...values, event: eventId }) : atEnd;
  const [[row], counts, answer] = yield* together([...head, at], !isAtEvent);
  if (row === undefined) return {};
  const { session } = mergedRows(sessionRows, key, row);
  let columns = answer as readonly EventColumns[];
  if (isAtEvent) {
    const [place] = answer as readonly EventOrder[];
    if (place === undefined) return { session };
    const { time, tie } = place;
    [columns] = yield* together(
      [pages.atEvent[direction].of({ ...values, limit, time, tie })],
      true,
    );
  }
  const events = columns.map(rowOf);
  const count = counts[0]?.count;
  return {
    session,
    events: direction === 'after' ? events : events.reverse(),
    eventCount: count === undefined ? undefined : Number(count),
  };
}

/**
 * Reads the same with parsed events instead of JSON text. The events are parsed while their rows arrive.
 *
 * @returns `undefined` if an event cannot be parsed; {@link read} then reports why
 */
export function* readParsed(
  context: VerbContext,
  { key, window }: StorageReadRequest,
): Steps<ParsedRows | undefined> {
  const { sessionRows, statements } = context;
  const { appName, userId = '', sessionId } = key;
  if (sessionId === undefined) {
    return { ...(yield* readStates(context, appName, key.userId)), events: [] };
  }
  const values = keyOf(key);
  let parsed: Event[] | undefined = [];
  const take = ({ id, event_data: eventData }: EventDataColumns): void => {
    const event = parsed && parsedEvent(id, eventData);
    if (event === undefined) parsed = undefined;
    else parsed?.push(event);
  };
  const query = eventsOf(statements(readStatements).jsons, values, window);
  const { merged } = statements(sessionStatements);
  const queries = [merged.of(values), query && { ...query, take }] as const;
  const [[row], rest] = yield* together(queries, true);
  if (row === undefined) return { ...NO_ROWS, events: [] };
  rest.forEach(take);
  return (
    parsed && {
      ...mergedRows(sessionRows, { appName, userId, sessionId }, row),
      events: within(window, parsed),
    }
  );
}

function mergedRows(sessionRows: SessionRows, key: Required<StorageKey>, row: MergedColumns) {
  return {
    session: sessionRows.read(key, row),
    app: joinedState(row.app_state, row.app_time),
    user: joinedState(row.user_state, row.user_time),
  };
}

/** Cuts the window out of the events that the query returned, and puts the earliest first. */
function within<E extends { timestamp: number }>(
  { last, after }: StorageReadRequest['window'],
  events: E[],
): E[] {
  if (after === undefined) return last === undefined ? events : events.reverse();
  const passed = events.filter(({ timestamp }) => timestamp >= after);
  return last === undefined || passed.length <= last ? passed : passed.slice(-last);
}

/**
 * Builds the query for a window's events; `undefined` if the window is empty. `after` filters by the events'
 * own times, for which there is no column: `timestamp` is the time of the append. The times stand in
 * `event_data`, where SQL excludes nearly all events that do not pass.
 */
function eventsOf<Columns>(
  statements: WindowStatements<Columns>,
  key: Key,
  { last, after }: StorageReadRequest['window'],
): Query<Columns> | undefined {
  if (last === 0) return undefined;
  if (after !== undefined) return statements.since.of({ ...key, seconds: secondsBelow(after) });
  return last === undefined ? statements.all.of(key) : statements.last.of({ ...key, last });
}

/**
 * Returns a time in seconds, a millisecond early so that rounding excludes no event, and within the range of
 * every engine.
 */
function secondsBelow(milliseconds: number): number {
  return Math.min(Math.max(0, milliseconds / 1000 - 0.001), LAST_SECOND);
}

/** The last second of the year 9999. */
const LAST_SECOND = MAX_TIMESTAMP / 1000;

function* readStates(
  { statements }: VerbContext,
  app: string,
  user: string | undefined,
): Steps<Rows> {
  const states = statements(sessionStatements);
  const userQuery = user === undefined ? undefined : states.user.of({ app, user });
  const [[appRow], [userRow]] = yield* together([states.app.of({ app }), userQuery], true);
  return {
    app: appRow && sharedRow(appRow.state, appRow.update_time),
    user: userRow && sharedRow(userRow.state, userRow.update_time),
    events: [],
  };
}
