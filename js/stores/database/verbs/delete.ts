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
import { type Guard, Prepared, type Query, type Steps, together } from '../engine/prepared.js';
import { lockMutation } from './mutations.js';
import { currentRowsStatements, rowGuard } from '../statements/current_rows_statements.js';
import {
  guardStatement,
  JOINS_DETAILS,
  type Key,
  keyOf,
  type KeyValue,
  matchesSession,
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
  create_time: StoredTime;
  update_time: StoredTime;
  side_time: StoredTime | null;
  newest: StoredTime | null;
}

/** @returns the statement that reads the times of one session, or of all sessions of a user, and locks their rows */
function selectTimes(
  database: Database,
  engine: Engine,
  isOne: boolean,
  guard: Guard<Key, TimeColumns>,
) {
  return new Prepared<Key, TimeColumns>((value) => {
    const ofUser = database
      .selectFrom('sessions as session')
      .select((of) => [
        engine.queries.time(of.ref('session.create_time')).as('create_time'),
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
  }, guard);
}

/** Makes the guard of all sessions of a user: the floor must be above the revisions of those that are deleted. */
function guardOfAll(database: Database, engine: Engine, layout: Layout): Guard<Key, TimeColumns> {
  const guard = guardStatement<Key>(database, layout, (value) =>
    database
      .selectFrom('sessions')
      .select(engine.queries.time(sql`max(${sql.ref('update_time')})`).as('newest'))
      .where(isUser(value)),
  );
  return (key, rows) => {
    const newest = rows.reduce<StoredTime>(
      (one, { update_time: other }) => (timeOf(other) > timeOf(one) ? other : one),
      '',
    );
    return guard(key, newest);
  };
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
  const labelsOf = (value: KeyValue) =>
    database
      .selectFrom('sessions as session')
      .innerJoin('adk_session_wasm_details as details', (join) => join.on(JOINS_DETAILS))
      .select(engine.queries.json(sql.ref('details.labels')).as('labels'))
      .where(matchesSession(value, 'session'));
  const guardLabels = guardStatement<Key>(database, layout, labelsOf);
  return {
    timesOfOne: selectTimes(database, engine, true, rowGuard(database, engine, layout, 'session')),
    timesOfAll: selectTimes(database, engine, false, guardOfAll(database, engine, layout)),
    /** Delete a state. Those of `unused` delete it if its owner has no sessions. */
    deleteUser: deleteState(database, 'user', false),
    unused: { app: deleteState(database, 'app', true), user: deleteState(database, 'user', true) },
    /** Selects the labels of a session. */
    labels: new Prepared<Key, { labels: string | null }>(labelsOf, (key, [row]) =>
      guardLabels(key, row?.labels),
    ),
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

/** What a deletion writes, and the floor after it. */
interface Deletion {
  readonly queries: readonly Query[];
  readonly floor: number;
}

/**
 * Deletes a session, a user with all sessions, or a state: reads, decides, and then writes all in the last request.
 * Deleting sessions raises the floor to their highest revision, so that no revision is given twice.
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
  const key = keyOf(request.key);
  const mutation = yield* lockMutation(context, key, request.mutation);
  const deletion =
    request.what === 'session'
      ? yield* sessionDeletion(context, key, request.created)
      : request.what === 'user'
        ? yield* userDeletion(context, key)
        : yield* stateDeletion(context, key, SCOPES_OF_STATES[request.what]);
  const queries = [...(deletion?.queries ?? [])];
  if (mutation !== undefined)
    queries.push(...mutation.applied(request.what === 'session' ? DELETED : undefined));
  if (queries.length > 0) yield* together(queries, true);
  return deletion === undefined ? false : { floor: deletion.floor };
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
  const { timesOfOne, labels: labelsOf, floor } = statements(deleteStatements);
  const session = keyOf(key);
  // The labels are read once the session is locked: whoever changes them locks it first.
  const [rows, [details], [stored]] = yield* together([
    timesOfOne.of(session),
    labelsOf.of(session),
    floor.of({}),
  ]);
  const isUnchanged =
    rows.some((row) => parseTime(row.update_time) === revision) &&
    (details?.labels ?? undefined) === labels;
  if (!isUnchanged) return false;
  const deletions = deletionsOf(statements(writeStatements).deleteOne, session);
  const deletion = withFloor(context, deletions, revisionsOf(rows), stored);
  yield* together(deletion.queries, true);
  return { floor: deletion.floor };
}

/** @returns `undefined` if the session was not created at this time */
function* sessionDeletion(
  context: VerbContext,
  key: Key,
  created: number | undefined,
): Steps<Deletion | undefined> {
  const { statements } = context;
  const { timesOfOne, floor } = statements(deleteStatements);
  const [rows, [stored]] = yield* together([timesOfOne.of(key), floor.of({})]);
  const isOther = created !== undefined && parseTime(rows[0]?.create_time ?? null) !== created;
  if (isOther) return undefined;
  const deletions = rows.length > 0 ? deletionsOf(statements(writeStatements).deleteOne, key) : [];
  return withFloor(context, deletions, revisionsOf(rows), stored);
}

/**
 * Locks the sessions and the user's row before it deletes anything. Otherwise a deadlock is possible: a
 * create holds the user's row and waits to insert a session whose id is being deleted. The deletion in turn
 * waits for the user's row.
 *
 * On servers a create may commit before the user's row is locked, so the sessions are read again under the lock. If
 * that create inserted the user's row too, there was no row to lock: the loop then locks it and reads the sessions
 * once more.
 *
 * A session that appears between the two reads is locked after the user's row. The server may then detect a
 * deadlock with an append, and the transaction runs again.
 */
function* userDeletion(context: VerbContext, key: Key): Steps<Deletion> {
  const { engine, statements } = context;
  const { timesOfAll, deleteUser, floor } = statements(deleteStatements);
  const { locks } = statements(currentRowsStatements);
  const { locksRows, locksByInsert } = engine.transactions;
  for (;;) {
    const [before, [row], again, [stored]] = yield* together([
      timesOfAll.of(key),
      locks.user.one.of(key),
      locksRows ? timesOfAll.of(key) : undefined,
      floor.of({}),
    ]);
    const rows = locksRows ? again : before;
    if (row === undefined && rows.length > before.length) continue;
    const { deleteAll, lockFilesOfUser } = statements(writeStatements);
    // A put may be storing a version: its chunks would be deleted without it.
    if (locksByInsert) yield* together([lockFilesOfUser.of(key)]);
    // Files of a user may be there without a session.
    const deletions =
      rows.length > 0
        ? deletionsOf(deleteAll, key)
        : [deleteAll.files.of(key), deleteAll.chunks.of(key)];
    const revisions = revisionsOf(rows);
    if (row === undefined) return withFloor(context, deletions, revisions, stored);
    const all = [...deletions, deleteUser.of(key)];
    return withFloor(context, all, [...revisions, timeOf(row.update_time)], stored);
  }
}

function* stateDeletion(context: VerbContext, key: Key, scope: SharedScope): Steps<Deletion> {
  const { clock, engine, layout, statements } = context;
  const { floor, unused } = statements(deleteStatements);
  const lock = statements(currentRowsStatements).locks[scope].one;
  const [[row], [stored]] = yield* together([lock.of(key), floor.of({})]);
  if (row === undefined) return withFloor(context, [], [], stored);
  const revision = Math.max(timeOf(row.update_time) + 1, millisecondsToMicros(clock()));
  const values = { ...key, state: EMPTY, updated: layout.time(revision) };
  const update = statements(writeStatements).updateState[scope].of(values);
  if (engine.transactions.locksRows) return { queries: [update], floor: revision };
  return withFloor(context, [update, unused[scope].of(key)], [revision], stored);
}

function deletionsOf(deletions: Deletions, key: Key): Query[] {
  return [...deletionsBeside(deletions, key), deletions.sessions.of(key)];
}

function revisionsOf(rows: readonly TimeColumns[]): number[] {
  return rows.flatMap((row) => [row.update_time, row.side_time, row.newest].map(timeOf));
}

/** Returns 0 if a time is absent or damaged. A damaged row must not keep itself from being deleted. */
function timeOf(time: StoredTime | null): number {
  return parseTime(time) ?? 0;
}

/** Raises the floor to the highest of these revisions, if there are any. @param stored its row; absent if it is missing */
function withFloor(
  { statements }: VerbContext,
  queries: readonly Query[],
  revisions: readonly number[],
  stored: { readonly value: string } | undefined,
): Deletion {
  const floor = Number(stored?.value ?? 0);
  if (revisions.length === 0) return { queries, floor };
  const highest = revisions.reduce((one, other) => Math.max(one, other));
  const raise = statements(deleteStatements).raiseFloor.of({ floor: floorText(highest) });
  return { queries: [...queries, raise], floor: Math.max(floor, highest) };
}
