/** What a write reads before it asks what to do, with the rows locked that it may change. */
import type { EventRow, Found, ScopeRow, SessionRow, WriteRequest } from '../storage/adapter.js';
import type { Engine } from './engine.js';
import { byCount, filledBatches } from './batches.js';
import { Prepared, type Steps } from './prepared.js';
import {
  type EventColumns,
  eventRow,
  revisionOf,
  scopeRow,
  type SessionColumns,
  sessionRow,
} from './rows.js';
import {
  type Key,
  selectEvents,
  type SessionStatements,
  type StateColumns,
} from './session_statements.js';
import type { Database } from './tables.js';
import { LAST_MICROS, parseTime, timeText } from './times.js';

/** Most ids in one query; engines bound the values that one may have. */
const MAX_IDS = 1024;

/** The columns of our row beside a session; all absent where there is none. */
interface KeptColumns {
  kept_time: string | null;
  last_update_time: string | null;
  replaced_at: string | null;
}

/** An event, if there is one, and what is told of its session in the same breath. */
type TailColumns = KeptColumns & {
  newest: string | null;
} & { [Column in keyof EventColumns]: EventColumns[Column] | null };

/** What was found, and what of it only the tables know. */
export interface FoundRows {
  readonly found: Found;
  /** Whether we keep a row beside the session, and when an event was last replaced as that says. */
  readonly kept?: { readonly replacedAt: string | null } | undefined;
}

export function foundStatements(database: Database, engine: Engine) {
  const { json, time } = engine;
  const ofSession = new Prepared<
    Key,
    Pick<SessionColumns, 'state' | 'create_time' | 'update_time'>
  >((value) => {
    const query = database
      .selectFrom('sessions')
      .select((of) => [
        json(of.ref('state')).as('state'),
        time(of.ref('create_time')).as('create_time'),
        time(of.ref('update_time')).as('update_time'),
      ])
      .where('app_name', '=', value('app'))
      .where('user_id', '=', value('user'))
      .where('id', '=', value('session'));
    return engine.locksRows ? query.forUpdate() : query;
  });
  const tail = byCount(
    (ids) =>
      new Prepared<Key & Record<`id${number}`, string>, TailColumns>((value) =>
        database
          .selectFrom('sessions as s')
          .leftJoin('adk_session_wasm_sessions as k', (join) =>
            join
              .onRef('k.app_name', '=', 's.app_name')
              .onRef('k.user_id', '=', 's.user_id')
              .onRef('k.session_id', '=', 's.id'),
          )
          .leftJoin('events as e', (join) =>
            join
              .onRef('e.app_name', '=', 's.app_name')
              .onRef('e.user_id', '=', 's.user_id')
              .onRef('e.session_id', '=', 's.id')
              .on(
                'e.id',
                'in',
                Array.from({ length: ids }, (_, index) => value(`id${index}`)),
              ),
          )
          .select(['e.id', 'e.invocation_id'])
          .select((of) => [
            time(of.ref('k.update_time')).as('kept_time'),
            time(of.ref('k.last_update_time')).as('last_update_time'),
            time(of.ref('k.replaced_at')).as('replaced_at'),
            json(of.ref('e.event_data')).as('event_data'),
            time(of.ref('e.timestamp')).as('timestamp'),
            of
              .selectFrom('events as n')
              .select((newest) => time(newest.fn.max(newest.ref('n.timestamp'))).as('newest'))
              .whereRef('n.app_name', '=', 's.app_name')
              .whereRef('n.user_id', '=', 's.user_id')
              .whereRef('n.session_id', '=', 's.id')
              .as('newest'),
          ])
          .where('s.app_name', '=', value('app'))
          .where('s.user_id', '=', value('user'))
          .where('s.id', '=', value('session')),
      ),
  );
  const ofEvents = (replacedToo: boolean) =>
    new Prepared<Key & { since: string }, EventColumns>((value) =>
      selectEvents(database, engine, value).where((where) => {
        const isNew = where('timestamp', '>', value('since'));
        const data = json(where.ref('event_data'));
        return replacedToo ? where.or([isNew, where(data, 'like', '%"adk_session_wasm"%')]) : isNew;
      }),
    );
  return {
    session: ofSession,
    tail,
    changed: ofEvents(false),
    changedOrReplaced: ofEvents(true),
  };
}

export type FoundStatements = ReturnType<typeof foundStatements>;

/** Reads, and locks in the one order that every write keeps: session, app, user. */
export function* find(
  statements: FoundStatements & SessionStatements,
  request: WriteRequest,
  isCreate: boolean,
): Steps<FoundRows> {
  const { appName, userId = '', sessionId = '' } = request.key;
  const key = { app: appName, user: userId, session: sessionId };
  const names = { appName, userId, sessionId };
  const wants = (scope: 'user' | 'app') => isCreate || request.scopes.includes(scope);
  const columns =
    request.key.sessionId === undefined ? undefined : (yield* statements.session.run(key))[0];
  const tail = columns && (yield* readTail(statements, key, request.eventIds));
  const session = columns && sessionRow(names, { ...columns, ...keptOf(tail) });
  const app = wants('app') ? yield* statements.lockedApp.run(key) : [];
  const user =
    wants('user') && request.key.userId !== undefined ? yield* statements.lockedUser.run(key) : [];
  const isAnyAbsent =
    (request.key.sessionId !== undefined && session === undefined) ||
    (wants('app') && app.length === 0) ||
    (wants('user') && user.length === 0);
  const floor = isAnyAbsent ? yield* readFloor(statements) : 0;
  const replacedAt = parseTime(tail?.kept?.replaced_at) ?? 0;
  const changed =
    session && (yield* readChanged(statements, { key, session, replacedAt, request }));
  return {
    found: {
      session,
      app: stateRow(app[0]),
      user: stateRow(user[0]),
      events: tail?.events ?? [],
      changed: changed ?? [],
      // Python takes an event's own time for its column, which may be later than the session's.
      floor: Math.max(floor, tail?.newest ?? 0),
    },
    kept: tail?.kept && { replacedAt: tail.kept.replaced_at },
  };
}

export function* readFloor(statements: SessionStatements): Steps<number> {
  return Number((yield* statements.floor.run({}))[0]?.value ?? 0);
}

interface Tail {
  readonly events: readonly EventRow[];
  readonly kept: KeptColumns | undefined;
  readonly newest: number;
}

function* readTail(statements: FoundStatements, key: Key, ids: readonly string[]): Steps<Tail> {
  const rows: TailColumns[] = [];
  // No event has the empty id, so that it fits where none is asked for.
  for (const some of filledBatches(ids.length === 0 ? [''] : ids, MAX_IDS)) {
    const values: Key & Record<`id${number}`, string> = { ...key };
    for (const [index, id] of some.entries()) values[`id${index}`] = id;
    rows.push(...(yield* statements.tail(some.length).run(values)));
  }
  const [first] = rows;
  return {
    events: rows.filter((row): row is TailColumns & EventColumns => row.id !== null).map(eventRow),
    kept: first?.kept_time === null ? undefined : first,
    newest: first === undefined || first.newest === null ? 0 : revisionOf(first.newest, 'an event'),
  };
}

function keptOf(tail: Tail | undefined) {
  const { kept_time = null, last_update_time = null } = tail?.kept ?? {};
  return { kept_time, last_update_time };
}

interface ChangedRequest {
  readonly key: Key;
  readonly session: SessionRow;
  readonly replacedAt: number;
  readonly request: WriteRequest;
}

function* readChanged(
  statements: FoundStatements,
  { key, session, replacedAt, request: { since } }: ChangedRequest,
): Steps<EventRow[]> {
  if (since >= session.revision || since > LAST_MICROS) return [];
  const query = replacedAt > since ? statements.changedOrReplaced : statements.changed;
  const rows = yield* query.run({ ...key, since: timeText(since) });
  return rows.map(eventRow).filter((row) => row.revision > since);
}

function stateRow(columns: StateColumns | undefined): ScopeRow | undefined {
  return columns && scopeRow(columns.state, columns.update_time);
}
