import type { ExpressionBuilder } from 'kysely';
import type { ListRequest, Listing, SessionRow } from '../storage/adapter.js';
import type { Engine } from './engine.js';
import { scopeRow, type SessionColumns, sessionRow } from './rows.js';
import { type SessionStatements, type StateColumns, stateColumns } from './session_statements.js';
import type { Database, Tables } from './tables.js';

/** Most users whose states are asked for at once; engines bound the values that a query may have. */
const MAX_USERS = 1000;

/** The tables by the names that they have in these queries. */
interface Aliased {
  s: Tables['sessions'];
  k: Tables['adk_session_wasm_sessions'];
}

type ListedColumns = SessionColumns & { user_id: string; id: string };

/** The times between which a page's sessions were changed, and how many come before the first of them. */
interface Stretch {
  readonly from: string;
  readonly to: string;
  readonly before: number;
}

/**
 * A page of sessions by `lastUpdateTime`: `update_time`, unless our own table has another one for it.
 * Each of both has an index, and a page is merged from the two; one order over both could use neither,
 * and would sort all sessions.
 *
 * Ties are by id as JavaScript compares strings, which no engine can: SQL orders astral characters
 * behind U+E000 to U+FFFF. So a page is read with all sessions of its first and its last time, and cut
 * here.
 */
export async function list(
  connection: Database,
  engine: Engine,
  statements: SessionStatements,
  request: ListRequest,
): Promise<Listing> {
  const { appName, offset, limit } = request;
  const total = limit === undefined ? undefined : await count(connection, request);
  const stretch =
    limit === undefined ? undefined : await findStretch(connection, engine, request, limit);
  const isEmpty = limit !== undefined && stretch === undefined;
  const rows = isEmpty ? [] : await readSessions(connection, engine, request, stretch);
  rows.sort(byTime);
  if (request.order === 'desc') rows.reverse();
  const start = offset - (stretch?.before ?? 0);
  const sessions = rows.slice(start, limit === undefined ? undefined : start + limit);
  const [app] = await statements.app.run(connection, { app: appName });
  return {
    sessions,
    users: await readUsers(connection, engine, appName, sessions),
    app: app && scopeRow(app.state, app.update_time),
    total: total ?? rows.length,
  };
}

function byTime(one: SessionRow, other: SessionRow): number {
  return (
    one.lastUpdateTime - other.lastUpdateTime ||
    compare(one.sessionId, other.sessionId) ||
    compare(one.userId, other.userId)
  );
}

function compare(one: string, other: string): number {
  return Number(one > other) - Number(one < other);
}

function sessionsOf(connection: Database, { appName, userId }: ListRequest) {
  const query = connection.selectFrom('sessions as s').where('s.app_name', '=', appName);
  return userId === undefined ? query : query.where('s.user_id', '=', userId);
}

/** With our row beside each, where that counts. */
function keptBeside(connection: Database, request: ListRequest) {
  return sessionsOf(connection, request).leftJoin('adk_session_wasm_sessions as k', (join) =>
    join
      .onRef('k.app_name', '=', 's.app_name')
      .onRef('k.user_id', '=', 's.user_id')
      .onRef('k.session_id', '=', 's.id')
      .onRef('k.update_time', '=', 's.update_time'),
  );
}

/** The sessions that have such a row, by way of it, so that its index is used. */
function keptAlone(connection: Database, { appName, userId }: ListRequest) {
  const query = connection
    .selectFrom('adk_session_wasm_sessions as k')
    .innerJoin('sessions as s', (join) =>
      join
        .onRef('s.app_name', '=', 'k.app_name')
        .onRef('s.user_id', '=', 'k.user_id')
        .onRef('s.id', '=', 'k.session_id')
        .onRef('s.update_time', '=', 'k.update_time'),
    )
    .where('k.app_name', '=', appName);
  return userId === undefined ? query : query.where('k.user_id', '=', userId);
}

async function count(connection: Database, request: ListRequest): Promise<number> {
  const query = sessionsOf(connection, request).select(({ fn }) => fn.countAll().as('rows'));
  return Number((await query.execute())[0]?.rows ?? 0);
}

/** `undefined`: the page is empty. */
async function findStretch(
  connection: Database,
  { time }: Engine,
  request: ListRequest,
  limit: number,
): Promise<Stretch | undefined> {
  if (limit === 0) return undefined;
  const { offset, order } = request;
  const most = offset + limit;
  const plain = await keptBeside(connection, request)
    .where('k.session_id', 'is', null)
    .select((of) => time(of.ref('s.update_time')).as('time'))
    .orderBy('s.update_time', order)
    .limit(most)
    .execute();
  const kept = await keptAlone(connection, request)
    .select((of) => time(of.ref('k.last_update_time')).as('time'))
    .orderBy('k.last_update_time', order)
    .limit(most)
    .execute();
  const times = [...plain, ...kept].map((row) => row.time).sort();
  if (order === 'desc') times.reverse();
  const first = times[offset];
  const last = times[most - 1] ?? times.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = order === 'asc' ? [first, last] : [last, first];
  return { from, to, before: times.indexOf(first) };
}

async function readSessions(
  connection: Database,
  { json, time }: Engine,
  request: ListRequest,
  stretch: Stretch | undefined,
): Promise<SessionRow[]> {
  const columns = (of: ExpressionBuilder<Aliased, 's' | 'k'>) =>
    [
      of.ref('s.user_id').as('user_id'),
      of.ref('s.id').as('id'),
      json(of.ref('s.state')).as('state'),
      time(of.ref('s.create_time')).as('create_time'),
      time(of.ref('s.update_time')).as('update_time'),
      time(of.ref('k.update_time')).as('kept_time'),
      time(of.ref('k.last_update_time')).as('last_update_time'),
    ] as const;
  const rows: ListedColumns[] = [];
  const beside = keptBeside(connection, request).select(columns);
  if (stretch === undefined) {
    rows.push(...(await beside.execute()));
  } else {
    const { from, to } = stretch;
    const plain = beside
      .where('k.session_id', 'is', null)
      .where('s.update_time', '>=', from)
      .where('s.update_time', '<=', to);
    const kept = keptAlone(connection, request)
      .select(columns)
      .where('k.last_update_time', '>=', from)
      .where('k.last_update_time', '<=', to);
    rows.push(...(await plain.execute()), ...(await kept.execute()));
  }
  return rows.map((row) => {
    const { user_id: userId, id: sessionId } = row;
    return sessionRow({ appName: request.appName, userId, sessionId }, row);
  });
}

/** The states of those whose sessions these are. */
async function readUsers(
  connection: Database,
  engine: Engine,
  appName: string,
  sessions: readonly SessionRow[],
): Promise<Listing['users'][number][]> {
  const users = [...new Set(sessions.map(({ userId }) => userId))];
  const rows: (StateColumns & { user_id: string })[] = [];
  for (let start = 0; start < users.length; start += MAX_USERS) {
    const some = await connection
      .selectFrom('user_states')
      .select('user_id')
      .select(stateColumns(engine))
      .where('app_name', '=', appName)
      .where('user_id', 'in', users.slice(start, start + MAX_USERS))
      .execute();
    rows.push(...some);
  }
  return rows.map(({ user_id: userId, state, update_time: time }) => ({
    userId,
    ...scopeRow(state, time),
  }));
}
