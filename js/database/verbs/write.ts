/** `create` and `append`: reads the rows, decides, writes the changes. */
import type { Changes, Decide, EventRow, Found, WriteRequest } from '../../storage/adapter.js';
import { byCount, exactBatches } from './batches.js';
import type { StoredTime } from '../engines/engine.js';
import { toEventData } from '../tables/event_data.js';
import { find, type FindContext, type FoundRows, type FoundStatements } from './found.js';
import type { LastWrites } from './last_writes.js';
import { checkEvent, checkMergeable, checkStates } from '../tables/limits.js';
import { Prepared, type Query, type Steps } from '../transactions/prepared.js';
import type { Key, SessionStatements } from './session_statements.js';
import type { Database } from '../tables/tables.js';
import { millisecondsToMicros } from '../../python/micros.js';

/** The most events in one statement. Engines limit the number of a statement's parameters. */
const MAX_ROWS = 128;

/** The columns of a new event. */
type EventValues = Key & { id: string; invocation: string; time: StoredTime; data: string };

/** The columns of several new events, numbered, for one statement. */
type ManyEvents = Key &
  Record<`${'id' | 'invocation' | 'data'}${number}`, string> &
  Record<`time${number}`, StoredTime>;

/** The columns of a session's row in the side table. */
interface KeptValues extends Key {
  updated: StoredTime;
  time: StoredTime;
  replaced: StoredTime | null;
}

/** Makes the statements that insert and update rows. */
export function writeStatements(database: Database) {
  return {
    insertSession: new Prepared<
      Key & { state: string; created: StoredTime; updated: StoredTime },
      never
    >((value) =>
      database.insertInto('sessions').values({
        app_name: value('app'),
        user_id: value('user'),
        id: value('session'),
        state: value('state'),
        create_time: value('created'),
        update_time: value('updated'),
      }),
    ),
    touchSession: new Prepared<Key & { updated: StoredTime }, never>((value) =>
      database
        .updateTable('sessions')
        .set({ update_time: value('updated') })
        .where('app_name', '=', value('app'))
        .where('user_id', '=', value('user'))
        .where('id', '=', value('session')),
    ),
    updateSession: new Prepared<Key & { state: string; updated: StoredTime }, never>((value) =>
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
    insertApp: new Prepared<{ app: string; state: string; updated: StoredTime }, never>((value) =>
      database.insertInto('app_states').values({
        app_name: value('app'),
        state: value('state'),
        update_time: value('updated'),
      }),
    ),
    updateApp: new Prepared<{ app: string; state: string; updated: StoredTime }, never>((value) =>
      database
        .updateTable('app_states')
        .set({ state: value('state'), update_time: value('updated') })
        .where('app_name', '=', value('app')),
    ),
    insertUser: new Prepared<Omit<Key, 'session'> & { state: string; updated: StoredTime }, never>(
      (value) =>
        database.insertInto('user_states').values({
          app_name: value('app'),
          user_id: value('user'),
          state: value('state'),
          update_time: value('updated'),
        }),
    ),
    updateUser: new Prepared<Omit<Key, 'session'> & { state: string; updated: StoredTime }, never>(
      (value) =>
        database
          .updateTable('user_states')
          .set({ state: value('state'), update_time: value('updated') })
          .where('app_name', '=', value('app'))
          .where('user_id', '=', value('user')),
    ),
    /** Inserts one event, which is what nearly every append does. */
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

/** What a write needs. */
export interface WriteContext extends FindContext {
  readonly statements: Statements;
  /** Only if the connection can tell whether others have written since. */
  readonly lastWrites?: LastWrites | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Reads the rows, calls `decide`, and writes its changes in the last request. Writes nothing if `decide`
 * returns `undefined`.
 */
export function* write(
  context: WriteContext,
  request: WriteRequest,
  decide: Decide,
  isCreate: boolean,
): Steps<void> {
  const { lastWrites, now } = context;
  const locksApp = !isCreate || !context.engine.locksRows || changesApp(decide);
  const known = lastWrites && (yield* lastWrites.find(request, isCreate));
  let rows = known ?? (yield* find(context, request, isCreate, locksApp));
  let changes = decideOnTime(rows.found, decide, request, now);
  if (changes === undefined && known !== undefined) {
    // The cache does not know whether the event is stored already. If it is, the write is not refused.
    rows = yield* find(context, request, isCreate, locksApp);
    changes = decideOnTime(rows.found, decide, request, now);
  }
  if (changes === undefined) return;
  yield { queries: changeQueries(context, request, rows, changes, isCreate), isLast: true };
  lastWrites?.keep(request, rows, changes);
}

/**
 * Whether a create changes keys of the app. It then writes the app's state whatever is stored, so `decide`
 * can be asked with no rows.
 */
function changesApp(decide: Decide): boolean {
  return decide({ events: [], changed: [], floor: 0 })?.app !== undefined;
}

/**
 * Calls `decide` with the floor raised to just below the time of the write, so that the new revisions are
 * times. The session's revision should equal its new `lastUpdateTime`, which the request nearly always tells.
 * One call of `decide` is then enough. If that time is not later than the stored revision, the next
 * microsecond is used.
 *
 * The request does not tell how many of its events are stored already. Then the time and the number of new
 * revisions come from a first call of `decide`, and a second call uses them.
 */
function decideOnTime(
  found: Found,
  decide: Decide,
  { eventIds, lastUpdateTime = 0 }: WriteRequest,
  now: number,
): Changes | undefined {
  const { session: stored, floor } = found;
  const expected = millisecondsToMicros(Math.max(lastUpdateTime, stored?.lastUpdateTime ?? 0));
  const count = Math.max(1, eventIds.length);
  if (lastUpdateTime > 0 && expected - count > Math.max(stored?.revision ?? 0, floor)) {
    const changes = decide(above(found, expected - count));
    const session = changes?.session;
    if (session === undefined) return changes;
    if (session.revision === millisecondsToMicros(session.lastUpdateTime)) return changes;
  }
  const changes = decide(found);
  if (changes === undefined) return undefined;
  const { session } = changes;
  const written = session ? session.revision - Math.max(stored?.revision ?? 0, floor) : 1;
  const last = session?.revision ?? changes.user?.revision ?? changes.app?.revision ?? 0;
  const time = millisecondsToMicros(session?.lastUpdateTime ?? now);
  return time <= last ? changes : decide(above(found, time - written));
}

function above({ session, app, user, events, changed }: Found, floor: number): Found {
  return { session, app, user, events, changed, floor };
}

/**
 * Builds the queries that write the changes. Fails before any of them runs if the tables cannot hold the
 * changes.
 */
function changeQueries(
  context: WriteContext,
  request: WriteRequest,
  { found, kept }: FoundRows,
  changes: Changes,
  isCreate: boolean,
): Query[] {
  const { engine, layout, statements, now } = context;
  const { appName: app, userId: user = '', sessionId = '' } = request.key;
  const key: Key = { app, user, session: sessionId };
  const { session } = changes;
  const queries: Query[] = [];
  // Python cannot append without these rows. They come before the session, in the order of the locks. Of two
  // creates that find no row of the app, the second waits here and holds nothing that the first needs.
  const absent = isCreate ? { revision: millisecondsToMicros(now), state: '{}' } : undefined;
  const appRow = changes.app ?? (found.app ? undefined : absent);
  if (appRow !== undefined) {
    const values = { app, state: appRow.state, updated: layout.time(appRow.revision) };
    queries.push(statements[found.app ? 'updateApp' : 'insertApp'].of(values));
  }
  const userRow = changes.user ?? (found.user ? undefined : absent);
  if (userRow !== undefined) {
    const values = { app, user, state: userRow.state, updated: layout.time(userRow.revision) };
    queries.push(statements[found.user ? 'updateUser' : 'insertUser'].of(values));
  }
  if (session !== undefined) {
    const { revision, created, state } = session;
    const values = { app, user, session: sessionId, state, updated: layout.time(revision) };
    if (found.session === undefined) {
      queries.push(statements.insertSession.of({ ...values, created: layout.time(created) }));
    } else if (state === found.session.state) {
      queries.push(statements.touchSession.of(values));
    } else {
      queries.push(statements.updateSession.of(values));
    }
  }
  const replacedAt = pushEvents(queries, context, key, found, changes.events);
  checkStates(engine.kind, changes);
  if (layout.mergesInSql) checkMergeable(found, changes);
  if (session === undefined) return queries;
  const updated = layout.time(session.revision);
  const time = layout.timeOf(session.lastUpdateTime);
  if (updated === time && replacedAt === undefined) return queries;
  const values = {
    app,
    user,
    session: sessionId,
    updated,
    time,
    replaced: replacedAt === undefined ? (kept?.replacedAt ?? null) : layout.time(replacedAt),
  };
  queries.push(statements[kept ? 'updateKept' : 'insertKept'].of(values));
  return queries;
}

/** @returns the highest revision at which an event was replaced; `undefined` if none was */
function pushEvents(
  queries: Query[],
  { engine, layout, statements }: WriteContext,
  key: Key,
  found: Found,
  events: readonly EventRow[],
): number | undefined {
  // Of several events with one id, only the last is written, in the place of the first.
  const last =
    events.length === 1 ? events : new Map(events.map((event) => [event.id, event])).values();
  const stored = found.events.length === 0 ? undefined : new Set(found.events.map(({ id }) => id));
  const added: EventValues[] = [];
  let replacedAt: number | undefined;
  for (const { id, seq, revision, text } of last) {
    const isReplaced = revision !== seq;
    const { invocationId, eventData } = toEventData(text, isReplaced ? revision : undefined);
    checkEvent(engine.kind, invocationId, text);
    const values = {
      app: key.app,
      user: key.user,
      session: key.session,
      id,
      invocation: invocationId,
      time: layout.time(seq),
      data: eventData,
    };
    if (stored?.has(id) === true) queries.push(statements.replaceEvent.of(values));
    else added.push(values);
    if (isReplaced) replacedAt = Math.max(replacedAt ?? 0, revision);
  }
  const [first] = added;
  if (added.length === 1 && first) queries.push(statements.insertEvent.of(first));
  else queries.push(...insertions(statements, key, added));
  return replacedAt;
}

function insertions(statements: Statements, key: Key, events: readonly EventValues[]): Query[] {
  return [...exactBatches(events, MAX_ROWS)].map((some) => {
    const values: ManyEvents = { ...key };
    for (const [index, { id, invocation, time, data }] of some.entries()) {
      values[`id${index}`] = id;
      values[`invocation${index}`] = invocation;
      values[`time${index}`] = time;
      values[`data${index}`] = data;
    }
    return statements.insertEvents(some.length).of(values);
  });
}
