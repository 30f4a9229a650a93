/** `create` and `append`: read, ask, write. */
import type { Changes, Decide, EventRow, Found, WriteRequest } from '../storage/adapter.js';
import type { Engine } from './engine.js';
import { toEventData } from './event_data.js';
import { find, type FoundRows, type FoundStatements } from './found.js';
import { checkChanges } from './limits.js';
import { Prepared } from './prepared.js';
import type { Key, SessionStatements } from './session_statements.js';
import type { Database } from './tables.js';
import { microsOf, timeText, timeTextOf } from './times.js';

/** Most events in one statement; engines bound the values that one may have. */
const MAX_ROWS = 200;

/** The columns of a new event. */
type EventValues = Key & { id: string; invocation: string; time: string; data: string };

/** What our row beside a session says. */
interface KeptValues extends Key {
  updated: string;
  time: string;
  replaced: string | null;
}

export function writeStatements(database: Database) {
  return {
    insertSession: new Prepared<Key & { state: string; created: string; updated: string }, never>(
      (value) =>
        database.insertInto('sessions').values({
          app_name: value('app'),
          user_id: value('user'),
          id: value('session'),
          state: value('state'),
          create_time: value('created'),
          update_time: value('updated'),
        }),
    ),
    touchSession: new Prepared<Key & { updated: string }, never>((value) =>
      database
        .updateTable('sessions')
        .set({ update_time: value('updated') })
        .where('app_name', '=', value('app'))
        .where('user_id', '=', value('user'))
        .where('id', '=', value('session')),
    ),
    updateSession: new Prepared<Key & { state: string; updated: string }, never>((value) =>
      database
        .updateTable('sessions')
        .set({ state: value('state'), update_time: value('updated') })
        .where('app_name', '=', value('app'))
        .where('user_id', '=', value('user'))
        .where('id', '=', value('session')),
    ),
    insertKept: new Prepared<KeptValues, never>((value) =>
      database.insertInto('adk_session_wasm_sessions').values({
        app_name: value('app'),
        user_id: value('user'),
        session_id: value('session'),
        update_time: value('updated'),
        last_update_time: value('time'),
        replaced_at: value('replaced'),
      }),
    ),
    updateKept: new Prepared<KeptValues, never>((value) =>
      database
        .updateTable('adk_session_wasm_sessions')
        .set({
          update_time: value('updated'),
          last_update_time: value('time'),
          replaced_at: value('replaced'),
        })
        .where('app_name', '=', value('app'))
        .where('user_id', '=', value('user'))
        .where('session_id', '=', value('session')),
    ),
    insertApp: new Prepared<{ app: string; state: string; updated: string }, never>((value) =>
      database.insertInto('app_states').values({
        app_name: value('app'),
        state: value('state'),
        update_time: value('updated'),
      }),
    ),
    updateApp: new Prepared<{ app: string; state: string; updated: string }, never>((value) =>
      database
        .updateTable('app_states')
        .set({ state: value('state'), update_time: value('updated') })
        .where('app_name', '=', value('app')),
    ),
    insertUser: new Prepared<Omit<Key, 'session'> & { state: string; updated: string }, never>(
      (value) =>
        database.insertInto('user_states').values({
          app_name: value('app'),
          user_id: value('user'),
          state: value('state'),
          update_time: value('updated'),
        }),
    ),
    updateUser: new Prepared<Omit<Key, 'session'> & { state: string; updated: string }, never>(
      (value) =>
        database
          .updateTable('user_states')
          .set({ state: value('state'), update_time: value('updated') })
          .where('app_name', '=', value('app'))
          .where('user_id', '=', value('user')),
    ),
    insertEvent: new Prepared<EventValues, never>((value) =>
      database.insertInto('events').values({
        id: value('id'),
        app_name: value('app'),
        user_id: value('user'),
        session_id: value('session'),
        invocation_id: value('invocation'),
        timestamp: value('time'),
        event_data: value('data'),
      }),
    ),
    replaceEvent: new Prepared<Omit<EventValues, 'time'>, never>((value) =>
      database
        .updateTable('events')
        .set({ invocation_id: value('invocation'), event_data: value('data') })
        .where('id', '=', value('id'))
        .where('app_name', '=', value('app'))
        .where('user_id', '=', value('user'))
        .where('session_id', '=', value('session')),
    ),
  };
}

export type Statements = SessionStatements & FoundStatements & ReturnType<typeof writeStatements>;

/** Where a write is carried out. */
export interface WriteContext {
  readonly connection: Database;
  readonly engine: Engine;
  readonly statements: Statements;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export async function write(
  context: WriteContext,
  request: WriteRequest,
  decide: Decide,
  isCreate: boolean,
): Promise<void> {
  const rows = await find(context.connection, context.statements, request, isCreate);
  const changes = decideOnTime(rows.found, decide, context.now);
  if (changes === undefined) return;
  checkChanges(context.engine.kind, changes);
  await writeChanges(context, request, rows, changes, isCreate);
}

/**
 * Asks so that revisions come out as times: the floor is raised to just below where the write shall
 * stand. A session's is where its `lastUpdateTime` ends up, which only the answer tells, and so it is
 * asked a second time; where that time is past, the next microsecond does, and one answer is enough.
 */
function decideOnTime(found: Found, decide: Decide, now: number): Changes | undefined {
  const changes = decide(found);
  if (changes === undefined) return undefined;
  const { session } = changes;
  const count = session
    ? session.revision - Math.max(found.session?.revision ?? 0, found.floor)
    : 1;
  const last = session?.revision ?? changes.user?.revision ?? changes.app?.revision ?? 0;
  const time = microsOf(session?.lastUpdateTime ?? now);
  return time > last ? decide({ ...found, floor: time - count }) : changes;
}

async function writeChanges(
  { connection, statements, now }: WriteContext,
  request: WriteRequest,
  { found, kept }: FoundRows,
  changes: Changes,
  isCreate: boolean,
): Promise<void> {
  const { appName: app, userId: user = '', sessionId: id = '' } = request.key;
  const key: Key = { app, user, session: id };
  const { session } = changes;
  if (session !== undefined) {
    const { revision, created, state } = session;
    const updated = timeText(revision);
    if (found.session === undefined) {
      const values = { ...key, state, created: timeText(created), updated };
      await statements.insertSession.run(connection, values);
    } else if (state === found.session.state) {
      await statements.touchSession.run(connection, { ...key, updated });
    } else {
      await statements.updateSession.run(connection, { ...key, state, updated });
    }
  }
  // Python cannot append without them.
  const absent = isCreate ? { revision: microsOf(now), state: '{}' } : undefined;
  const appRow = changes.app ?? (found.app ? undefined : absent);
  if (appRow !== undefined) {
    const values = { app, state: appRow.state, updated: timeText(appRow.revision) };
    await statements[found.app ? 'updateApp' : 'insertApp'].run(connection, values);
  }
  const userRow = changes.user ?? (found.user ? undefined : absent);
  if (userRow !== undefined) {
    const values = { app, user, state: userRow.state, updated: timeText(userRow.revision) };
    await statements[found.user ? 'updateUser' : 'insertUser'].run(connection, values);
  }
  const wasReplaced = await writeEvents(connection, statements, key, found, changes.events);
  if (session === undefined) return;
  const updated = timeText(session.revision);
  const time = timeTextOf(session.lastUpdateTime);
  if (updated === time && !wasReplaced) return;
  const values = {
    ...key,
    updated,
    time,
    replaced: wasReplaced ? updated : (kept?.replacedAt ?? null),
  };
  await statements[kept ? 'updateKept' : 'insertKept'].run(connection, values);
}

/** Whether one took the place of another. */
async function writeEvents(
  connection: Database,
  statements: Statements,
  key: Key,
  found: Found,
  events: readonly EventRow[],
): Promise<boolean> {
  const stored = new Set(found.events.map((event) => event.id));
  // Of several of one id the last counts, where the first stood.
  const last = [...new Map(events.map((event) => [event.id, event])).values()];
  const rows = last.map(({ id, seq, revision, text }) => {
    const { invocationId, eventData } = toEventData(text, revision === seq ? undefined : revision);
    const values = { ...key, id, invocation: invocationId, data: eventData };
    return { ...values, time: timeText(seq) };
  });
  const replaced = rows.filter((row) => stored.has(row.id));
  for (const row of replaced) await statements.replaceEvent.run(connection, row);
  const added = rows.filter((row) => !stored.has(row.id));
  const [only] = added;
  if (added.length === 1 && only !== undefined) {
    await statements.insertEvent.run(connection, only);
  } else {
    for (let start = 0; start < added.length; start += MAX_ROWS) {
      await insertEvents(connection, added.slice(start, start + MAX_ROWS));
    }
  }
  return last.some((event) => event.revision !== event.seq);
}

async function insertEvents(connection: Database, events: readonly EventValues[]): Promise<void> {
  const rows = events.map(({ app, user, session, id, invocation, time, data }) => ({
    id,
    app_name: app,
    user_id: user,
    session_id: session,
    invocation_id: invocation,
    timestamp: time,
    event_data: data,
  }));
  await connection.insertInto('events').values(rows).execute();
}
