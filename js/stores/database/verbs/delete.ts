import { type RawBuilder, sql } from 'kysely';
import type { SharedScope } from '../../../values/state/scope.js';
import type {
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
} from '../../../core/storage/requests.js';
import { DELETED } from '../../../core/storage/mutations.js';
import type { Deleted } from '../../../core/storage/rows.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import type { Layout } from '../tables/layout.js';
import { Prepared, type Steps, together } from '../engine/prepared.js';
import { readCurrentRows } from './current_rows.js';
import { describeStatements } from './describe.js';
import { lockMutation } from './mutations.js';
import { currentRowsStatements } from '../statements/current_rows_statements.js';
import {
  type Key,
  keyOf,
  selectFloor,
  revisionColumns,
  isUser,
} from '../statements/session_statements.js';
import { type Database, floorText, METADATA } from '../tables/tables.js';
import { millisecondsToMicros, parseTime } from '../../../values/python/micros.js';
import type { VerbContext } from '../statements/verb_context.js';
import {
  type Deletions,
  deletionsBeside,
  writeStatements,
} from '../statements/write_statements.js';

/** The scopes of the states that a request deletes alone. */
const SCOPES_OF_STATES: Readonly<
  Record<Exclude<StorageDeleteRequest['what'], 'session' | 'user'>, SharedScope>
> = { appState: 'app', userState: 'user' };

/** The state that a deleted state is replaced by. */
const EMPTY = '{}';

/**
 * The times in a session's rows. Each of them may have been its revision, since Python moves `update_time`
 * back.
 */
interface TimeColumns {
  update_time: StoredTime;
  side_time: StoredTime | null;
  newest: StoredTime | null;
}

/** @returns the statement that reads the times of one session, or of all sessions of a user, and locks their rows */
function selectTimes(database: Database, engine: Engine, isOne: boolean) {
  return new Prepared<Key, TimeColumns>((value) => {
    const ofUser = database
      .selectFrom('sessions as session')
      .select((of) => [
        engine.queries.time(of.ref('session.update_time')).as('update_time'),
        of
          .selectFrom('adk_session_wasm_sessions as side')
          .select((row) => engine.queries.time(row.ref('side.update_time')).as('side_time'))
          .whereRef('side.app_name', '=', 'session.app_name')
          .whereRef('side.user_id', '=', 'session.user_id')
          .whereRef('side.session_id', '=', 'session.id')
          .as('side_time'),
      ])
      .select(revisionColumns(engine))
      .where('session.app_name', '=', value('app'))
      .where('session.user_id', '=', value('user'));
    const query = isOne ? ofUser.where('session.id', '=', value('session')) : ofUser;
    return engine.transactions.lock(query);
  });
}

function deleteState(database: Database, scope: SharedScope, isUnused: boolean) {
  return new Prepared<Key, never>((value) => {
    const own = (): RawBuilder<boolean> =>
      scope === 'user' ? isUser(value) : sql`${sql.ref('app_name')} = ${value('app')}`;
    const deletion = database.deleteFrom(`${scope}_states`).where(own());
    if (!isUnused) return deletion;
    return deletion.where((of) =>
      of.not(of.exists(of.selectFrom('sessions').select('id').where(own()))),
    );
  });
}

/** Makes the statements of {@link remove}. */
export function deleteStatements(database: Database, engine: Engine, layout: Layout) {
  return {
    timesOfOne: selectTimes(database, engine, true),
    timesOfAll: selectTimes(database, engine, false),
    /** Delete a state. Those of `unused` delete it if its owner has no sessions. */
    deleteUser: deleteState(database, 'user', false),
    unused: { app: deleteState(database, 'app', true), user: deleteState(database, 'user', true) },
    floor: new Prepared<object, { value: string }>(() => selectFloor(database, layout)),
    raiseFloor: new Prepared<{ floor: string }, never>((value) =>
      database
        .updateTable(layout.metadata)
        .set({ value: value('floor') })
        .where('key', '=', METADATA.floor)
        .where('value', '<', value('floor')),
    ),
  };
}

/**
 * Deletes a session, a user with all sessions, or a state. Deleting sessions raises the floor to their highest
 * revision, so that no revision is given twice.
 *
 * While there are sessions, a deleted state is replaced by an empty one with a higher revision, because Python cannot
 * append if the row is missing. SQLite deletes the row if there are no sessions: creating one inserts it again. On
 * servers it stays: a create may run beside the deletion, and MariaDB's locks of the missing row made such writes
 * deadlock.
 */
export function* remove(
  context: VerbContext,
  request: StorageDeleteRequest,
): Steps<Deleted | false> {
  const mutation = yield* lockMutation(context, keyOf(request.key), request.mutation);
  const deleted = yield* removeRows(context, request);
  if (mutation !== undefined) {
    const created = request.what === 'session' ? DELETED : undefined;
    yield* together([mutation.applied(created)]);
  }
  return deleted;
}

function* removeRows(context: VerbContext, request: StorageDeleteRequest): Steps<Deleted | false> {
  const { engine, layout, statements } = context;
  const deleted: number[] = [];
  const key = keyOf(request.key);
  if (request.what === 'session' && request.created !== undefined) {
    const found = { key: request.key, scopes: [], eventIds: [], since: Number.MAX_SAFE_INTEGER };
    const [current] = yield* readCurrentRows(context, [found], false, false);
    if (current?.found.session?.created !== request.created) return false;
  }
  switch (request.what) {
    case 'session':
      deleted.push(...(yield* removeSession(context, key)));
      break;
    case 'user':
      deleted.push(...(yield* removeUser(context, key)));
      break;
    default: {
      const scope = SCOPES_OF_STATES[request.what];
      const [row] = yield* statements(currentRowsStatements).locks[scope].one.run(key);
      if (row === undefined) break;
      const revision = nextRevision(context, row.update_time);
      const values = { ...key, state: EMPTY, updated: layout.time(revision) };
      yield* statements(writeStatements).updateState[scope].run(values);
      if (engine.transactions.locksRows) return { floor: revision };
      yield* statements(deleteStatements).unused[scope].run(key);
      deleted.push(revision);
    }
  }
  return { floor: yield* raisedFloor(context, deleted) };
}

/**
 * Deletes a session if it has the `update_time` and the labels with which it was listed. An append of ours changes
 * the time. One of Python's leaves it if the event has that time too, and is then deleted with the session.
 */
export function* removeUnchanged(
  context: VerbContext,
  { key, revision, labels }: StorageDeleteUnchangedRequest,
): Steps<Deleted | false> {
  const { statements } = context;
  const { timesOfOne } = statements(deleteStatements);
  const session = keyOf(key);
  // The details are read once the session is locked: whoever changes them locks it first.
  const [rows, [details]] = yield* together([
    timesOfOne.of(session),
    statements(describeStatements).details.of(session),
  ]);
  const isUnchanged =
    rows.some((row) => parseTime(row.update_time) === revision) &&
    (details?.labels ?? undefined) === labels;
  if (!isUnchanged) return false;
  yield* deleteRows(statements(writeStatements).deleteOne, session);
  return { floor: yield* raisedFloor(context, revisionsOf(rows)) };
}

function nextRevision({ clock }: VerbContext, updateTime: StoredTime): number {
  return Math.max(timeOf(updateTime) + 1, millisecondsToMicros(clock()));
}

/** Deletes a session. Returns the times that may have been its revision; none if there is no such session. */
function* removeSession({ statements }: VerbContext, key: Key): Steps<number[]> {
  const rows = yield* statements(deleteStatements).timesOfOne.run(key);
  if (rows.length > 0) yield* deleteRows(statements(writeStatements).deleteOne, key);
  return revisionsOf(rows);
}

/**
 * Deletes a user with all sessions. Returns the times that may have been their revisions.
 *
 * Locks the sessions and the user's row before it deletes anything. Otherwise a deadlock is possible: a
 * create holds the user's row and waits to insert a session whose id is being deleted. The deletion in turn
 * waits for the user's row.
 *
 * A create may commit before the user's row is locked, so the sessions are read again under the lock. If that
 * create inserted the user's row too, there was no row to lock: the loop then locks it and reads the sessions
 * once more.
 *
 * A session that appears between the two reads is locked after the user's row. The server may then detect a
 * deadlock with an append, and the transaction runs again.
 */
function* removeUser({ statements }: VerbContext, key: Key): Steps<number[]> {
  const { timesOfAll, deleteUser } = statements(deleteStatements);
  const { locks } = statements(currentRowsStatements);
  let rows = yield* timesOfAll.run(key);
  for (;;) {
    const { length: before } = rows;
    const [row] = yield* locks.user.one.run(key);
    rows = yield* timesOfAll.run(key);
    if (row === undefined && rows.length > before) continue;
    if (rows.length > 0) yield* deleteRows(statements(writeStatements).deleteAll, key);
    if (row === undefined) return revisionsOf(rows);
    yield* deleteUser.run(key);
    return [...revisionsOf(rows), timeOf(row.update_time)];
  }
}

function* deleteRows(deletions: Deletions, key: Key): Steps<void> {
  yield* together([...deletionsBeside(deletions, key), deletions.sessions.of(key)]);
}

function revisionsOf(rows: readonly TimeColumns[]): number[] {
  return rows.flatMap((row) => [row.update_time, row.side_time, row.newest].map(timeOf));
}

/** Returns 0 if a time is absent or damaged. A damaged row must not keep itself from being deleted. */
function timeOf(time: StoredTime | null): number {
  return parseTime(time) ?? 0;
}

/** Raises the floor to the highest of these revisions. Returns the floor; 0 if its row is missing. */
function* raisedFloor({ statements }: VerbContext, revisions: readonly number[]): Steps<number> {
  const { floor: storedFloor, raiseFloor } = statements(deleteStatements);
  if (revisions.length > 0) {
    const floor = floorText(revisions.reduce((one, other) => Math.max(one, other)));
    yield* raiseFloor.run({ floor });
  }
  const [stored] = yield* storedFloor.run({});
  return Number(stored?.value ?? 0);
}
