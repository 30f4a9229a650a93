/** `create` and `append`: read, ask, write. */
import type { Changes, Decide, EventRow, Found, WriteRequest } from '../storage/adapter.js';
import { byCount, exactBatches } from './batches.js';
import type { Engine } from './engine.js';
import { toEventData } from './event_data.js';
import { find, type FoundRows, type FoundStatements } from './found.js';
import { checkChanges } from './limits.js';
import { Prepared, type Steps } from './prepared.js';
import type { Key, SessionStatements } from './session_statements.js';
import type { Database } from './tables.js';
import { microsOf, timeText, timeTextOf } from './times.js';

/** Most events in one statement; engines bound the values that one may have. */
const MAX_ROWS = 128;

/** The columns of a new event. */
type EventValues = Key & { id: string; invocation: string; time: string; data: string };

/** The same of several in one statement, by their numbers. */
type ManyEvents = Key & Record<`${'id' | 'invocation' | 'time' | 'data'}${number}`, string>;

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
    insertEvents: byCount(
      (events) =>
        new Prepared<ManyEvents, never>((value) =>
          database.insertInto('events').values(
            Array.from({ length: events }, (_, index) => ({
              id: value(`id${index}`),
              app_name: value('app'),
              user_id: value('user'),
              session_id: value('session'),
              invocation_id: value(`invocation${index}`),
              timestamp: value(`time${index}`),
              event_data: value(`data${index}`),
            })),
          ),
        ),
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
  readonly engine: Engine;
  readonly statements: Statements;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function* write(
  context: WriteContext,
  request: WriteRequest,
  decide: Decide,
  isCreate: boolean,
): Steps<void> {
  const rows = yield* find(context.statements, request, isCreate);
  const changes = decideOnTime(rows.found, decide, context.now);
  if (changes === undefined) return;
  checkChanges(context.engine.kind, changes);
  yield* writeChanges(context, request, rows, changes, isCreate);
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

function* writeChanges(
  { statements, now }: WriteContext,
  request: WriteRequest,
  { found, kept }: FoundRows,
  changes: Changes,
  isCreate: boolean,
): Steps<void> {
  const { appName: app, userId: user = '', sessionId: id = '' } = request.key;
  const key: Key = { app, user, session: id };
  const { session } = changes;
  if (session !== undefined) {
    const { revision, created, state } = session;
    const updated = timeText(revision);
    if (found.session === undefined) {
      const values = { ...key, state, created: timeText(created), updated };
      yield* statements.insertSession.run(values);
    } else if (state === found.session.state) {
      yield* statements.touchSession.run({ ...key, updated });
    } else {
      yield* statements.updateSession.run({ ...key, state, updated });
    }
  }
  // Python cannot append without them.
  const absent = isCreate ? { revision: microsOf(now), state: '{}' } : undefined;
  const appRow = changes.app ?? (found.app ? undefined : absent);
  if (appRow !== undefined) {
    const values = { app, state: appRow.state, updated: timeText(appRow.revision) };
    yield* statements[found.app ? 'updateApp' : 'insertApp'].run(values);
  }
  const userRow = changes.user ?? (found.user ? undefined : absent);
  if (userRow !== undefined) {
    const values = { app, user, state: userRow.state, updated: timeText(userRow.revision) };
    yield* statements[found.user ? 'updateUser' : 'insertUser'].run(values);
  }
  const wasReplaced = yield* writeEvents(statements, key, found, changes.events);
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
  yield* statements[kept ? 'updateKept' : 'insertKept'].run(values);
}

/** Whether one took the place of another. */
function* writeEvents(
  statements: Statements,
  key: Key,
  found: Found,
  events: readonly EventRow[],
): Steps<boolean> {
  const stored = new Set(found.events.map((event) => event.id));
  // Of several of one id the last counts, where the first stood.
  const last = [...new Map(events.map((event) => [event.id, event])).values()];
  const rows = last.map(({ id, seq, revision, text }) => {
    const { invocationId, eventData } = toEventData(text, revision === seq ? undefined : revision);
    const values = { ...key, id, invocation: invocationId, data: eventData };
    return { ...values, time: timeText(seq) };
  });
  const replaced = rows.filter((row) => stored.has(row.id));
  for (const row of replaced) yield* statements.replaceEvent.run(row);
  const added = rows.filter((row) => !stored.has(row.id));
  for (const some of exactBatches(added, MAX_ROWS)) {
    const values: ManyEvents = { ...key };
    for (const [index, { id, invocation, time, data }] of some.entries()) {
      values[`id${index}`] = id;
      values[`invocation${index}`] = invocation;
      values[`time${index}`] = time;
      values[`data${index}`] = data;
    }
    yield* statements.insertEvents(some.length).run(values);
  }
  return last.some((event) => event.revision !== event.seq);
}
