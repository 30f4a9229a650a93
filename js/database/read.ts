import { sql } from 'kysely';
import type { EventRow, ReadRequest, Rows, ScopeRow } from '../storage/adapter.js';
import type { Engine } from './engine.js';
import { Prepared, type Steps } from './prepared.js';
import { type EventColumns, eventRow, scopeRow, sessionRow } from './rows.js';
import { type Key, selectEvents, type SessionStatements } from './session_statements.js';
import type { Database } from './tables.js';

export function readStatements(database: Database, engine: Engine) {
  const events = (isLimited: boolean) =>
    new Prepared<Key & { last: number }, EventColumns>((value) => {
      const query = selectEvents(database, engine, value);
      const newestFirst =
        engine.kind === 'sqlite'
          ? query.orderBy(sql.ref('rowid'), 'desc')
          : query.orderBy('events.timestamp', 'desc').orderBy('id', 'desc');
      return isLimited ? newestFirst.limit(value('last')) : newestFirst;
    });
  return { allEvents: events(false), lastEvents: events(true) };
}

type Statements = SessionStatements & ReturnType<typeof readStatements>;

/** A session with a window of its events, or the states of a user and an app. */
export function* read(statements: Statements, { key, window }: ReadRequest): Steps<Rows> {
  const { appName, userId = '', sessionId } = key;
  if (sessionId === undefined) return yield* readStates(statements, appName, key.userId);
  const columns = { app: appName, user: userId, session: sessionId };
  const [row] = yield* statements.merged.run(columns);
  if (row === undefined) return { events: [] };
  return {
    session: sessionRow({ appName, userId, sessionId }, row),
    app: optionalState(row.app_state, row.app_time),
    user: optionalState(row.user_state, row.user_time),
    events: yield* readEvents(statements, columns, window),
  };
}

function* readStates(statements: Statements, app: string, user: string | undefined): Steps<Rows> {
  const [appRow] = yield* statements.app.run({ app });
  const [userRow] = user === undefined ? [] : yield* statements.user.run({ app, user });
  return {
    app: appRow && scopeRow(appRow.state, appRow.update_time),
    user: userRow && scopeRow(userRow.state, userRow.update_time),
    events: [],
  };
}

function optionalState(state: string | null, time: string | null): ScopeRow | undefined {
  return state === null ? undefined : scopeRow(state, time);
}

/**
 * `after` goes by the events' own times, which no column has: `timestamp` is when an event came. So all
 * are read for it.
 */
function* readEvents(
  statements: Statements,
  key: Key,
  { last, after }: ReadRequest['window'],
): Steps<EventRow[]> {
  if (last === 0) return [];
  const isLimited = last !== undefined && after === undefined;
  const rows = isLimited
    ? yield* statements.lastEvents.run({ ...key, last })
    : yield* statements.allEvents.run({ ...key, last: 0 });
  const events = rows.map(eventRow).reverse();
  if (after === undefined) return events;
  const passed = events.filter((event) => event.timestamp >= after);
  return last === undefined ? passed : passed.slice(-last);
}
