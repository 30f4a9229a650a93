import { MAX_TIMESTAMP } from '../snapshot.js';
import type { ReadRequest, Rows, ScopeRow } from '../storage/adapter.js';
import type { Engine } from './engine.js';
import type { StoredTime } from './layout.js';
import { Prepared, type Query, type Steps, together } from './prepared.js';
import type { Revisions } from './revisions.js';
import { type EventColumns, lazyEventRow, scopeRow, sessionRow } from './rows.js';
import {
  eventOrder,
  type Key,
  selectEvents,
  type SessionStatements,
} from './session_statements.js';
import type { Database } from './tables.js';

export function readStatements(database: Database, engine: Engine) {
  const events = (value: (name: keyof Key) => string, order: 'asc' | 'desc') => {
    const query = selectEvents(database, engine, value);
    return eventOrder(engine).reduce((ordered, place) => ordered.orderBy(place, order), query);
  };
  return {
    allEvents: new Prepared<Key, EventColumns>((value) => events(value, 'asc')),
    lastEvents: new Prepared<Key & { last: number }, EventColumns>((value) =>
      events(value, 'desc').limit(value('last')),
    ),
    eventsSince: new Prepared<Key & { seconds: number }, EventColumns>((value) =>
      events(value, 'asc').where((of) =>
        engine.mayBeSince(of.ref('event_data'), of.val(value('seconds'))),
      ),
    ),
  };
}

type ReadStatements = ReturnType<typeof readStatements>;

/** A session with a window of its events, or the states of a user and an app. */
export function* read(
  statements: SessionStatements & ReadStatements,
  revisions: Revisions,
  { key, window }: ReadRequest,
): Steps<Rows> {
  const { appName, userId = '', sessionId } = key;
  if (sessionId === undefined) return yield* readStates(statements, appName, key.userId);
  const values = { app: appName, user: userId, session: sessionId };
  const queries = [statements.merged.of(values), eventsOf(statements, values, window)] as const;
  const [[row], columns] = yield* together(queries, true);
  if (row === undefined) return { events: [] };
  const { last, after } = window;
  const events = columns.map(lazyEventRow);
  if (after === undefined && last !== undefined) events.reverse();
  const passed =
    after === undefined ? events : events.filter(({ timestamp }) => timestamp >= after);
  return {
    session: revisions.placed(sessionRow({ appName, userId, sessionId }, row), row),
    app: optionalState(row.app_state, row.app_time),
    user: optionalState(row.user_state, row.user_time),
    events: last === undefined || passed.length <= last ? passed : passed.slice(-last),
  };
}

/**
 * `after` goes by the events' own times, which no column has: `timestamp` is when an event came. They
 * stand in `event_data`, where SQL finds nearly all of those that do not pass.
 */
function eventsOf(
  statements: ReadStatements,
  key: Key,
  { last, after }: ReadRequest['window'],
): Query<EventColumns> | undefined {
  if (last === 0) return undefined;
  if (after !== undefined) {
    return statements.eventsSince.of({ ...key, seconds: secondsBelow(after) });
  }
  return last === undefined
    ? statements.allEvents.of(key)
    : statements.lastEvents.of({ ...key, last });
}

/** Seconds that no conversion of that time lies below, and that every engine has. */
function secondsBelow(milliseconds: number): number {
  return Math.min(Math.max(0, milliseconds / 1000 - 0.001), LAST_SECOND);
}

/** In the year 9999. */
const LAST_SECOND = MAX_TIMESTAMP / 1000;

function* readStates(
  statements: SessionStatements,
  app: string,
  user: string | undefined,
): Steps<Rows> {
  const userQuery = user === undefined ? undefined : statements.user.of({ app, user });
  const [[appRow], [userRow]] = yield* together([statements.app.of({ app }), userQuery], true);
  return {
    app: appRow && scopeRow(appRow.state, appRow.update_time),
    user: userRow && scopeRow(userRow.state, userRow.update_time),
    events: [],
  };
}

function optionalState(state: string | null, time: StoredTime | null): ScopeRow | undefined {
  return state === null ? undefined : scopeRow(state, time);
}
