/** `changedSince`: finds the sessions and shared states of an app that were changed since a time, by whomever. */
import { sql } from 'kysely';
import type { ChangedRequest, ChangedRows, StateRevision } from '../../../core/storage/storage.js';
import { millisecondsToMicros, parseTime } from '../../../values/python/micros.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import type { RevisionColumns } from '../tables/revisions.js';
import type { Database } from '../tables/tables.js';
import { Prepared, type Steps, together } from '../engine/prepared.js';
import { JOINS_SIDE_TABLE, revisionColumns } from '../statements/session_statements.js';
import { cached, filledChunks, mostItems } from '../statements/statement_sizes.js';
import type { VerbContext } from '../statements/verb_context.js';

/** The most sessions that are returned. A caller that gets more at once reads everything again. */
const MAX_SESSIONS = 20_000;

/** The most users whose states one query reads. Engines limit the number of a query's parameters. */
const MAX_USERS = 1024;

type ChangedColumns = RevisionColumns & {
  user_id: string;
  id: string;
  create_time: StoredTime;
  update_time: StoredTime;
};

interface ChangedStateColumns {
  update_time: StoredTime;
  /** 1 if the state has no keys, else 0. */
  is_empty: number;
}

type Users = { app: string } & Record<`user${number}`, string>;

/** Makes the statements of {@link changedSince}. */
export function changedStatements(database: Database, engine: Engine) {
  const { time } = engine.queries;
  const stateColumns = [
    time(sql.ref('update_time')).as('update_time'),
    sql<number>`case when ${sql.ref('state')} = '{}' then 1 else 0 end`.as('is_empty'),
  ] as const;
  return {
    /** Uses the index of lists by time. One query, because a second one for the revisions would take longer. */
    sessions: new Prepared<{ app: string; since: StoredTime }, ChangedColumns>((value) =>
      database
        .selectFrom('sessions as session')
        .leftJoin('adk_session_wasm_sessions as side', (join) => join.on(JOINS_SIDE_TABLE))
        .select(['session.user_id', 'session.id'])
        .select((of) => [
          time(of.ref('session.create_time')).as('create_time'),
          time(of.ref('session.update_time')).as('update_time'),
          time(of.ref('side.update_time')).as('side_time'),
          time(of.ref('side.replaced_at')).as('replaced_at'),
        ])
        .select(revisionColumns(engine))
        .where('session.app_name', '=', value('app'))
        .where('session.update_time', '>=', value('since'))
        .limit(sql.lit(MAX_SESSIONS + 1)),
    ),
    app: new Prepared<{ app: string }, ChangedStateColumns>((value) =>
      database.selectFrom('app_states').select(stateColumns).where('app_name', '=', value('app')),
    ),
    /** By their keys: no index has the times of the users' states. */
    users: cached(
      (users: number) =>
        new Prepared<Users, ChangedStateColumns & { user_id: string }>((value) =>
          database
            .selectFrom('user_states')
            .select('user_id')
            .select(stateColumns)
            .where('app_name', '=', value('app'))
            .where(
              'user_id',
              'in',
              Array.from({ length: users }, (_, index) => value(`user${index}`)),
            ),
        ),
    ),
  };
}

export function* changedSince(
  { engine, layout, revisions, statements }: VerbContext,
  { appName, since, users }: ChangedRequest,
): Steps<ChangedRows> {
  const { sessions, app, users: states } = statements(changedStatements);
  const from = since === undefined ? undefined : millisecondsToMicros(Math.max(0, since));
  const queries = [...filledChunks(users, mostItems(engine, MAX_USERS))].map((some) => {
    const values: Users = { app: appName };
    for (const [index, user] of some.entries()) values[`user${index}`] = user;
    return states(some.length).of(values);
  });
  const [[appRow], rows, ...userRows] = yield* together(
    [
      app.of({ app: appName }),
      from === undefined ? undefined : sessions.of({ app: appName, since: layout.time(from) }),
      ...queries,
    ],
    true,
  );
  const changed = rows.flatMap((row) => {
    const created = parseTime(row.create_time);
    const updated = parseTime(row.update_time);
    // A read of the session names what is damaged.
    if (created === undefined || updated === undefined) return [];
    const { user_id: userId, id: sessionId } = row;
    const revision = revisions.revisionOf(
      { appName, userId, sessionId, created, revision: updated },
      row,
    );
    return { userId, sessionId, revision, isNew: from !== undefined && created >= from };
  });
  return {
    sessions: rows.length > MAX_SESSIONS ? undefined : changed,
    app: appRow && stateRevision(appRow),
    users: new Map(userRows.flat().map((row) => [row.user_id, stateRevision(row)])),
  };
}

/** The revision is 0 if the time cannot be read. */
function stateRevision({
  update_time: time,
  is_empty: isEmpty,
}: ChangedStateColumns): StateRevision {
  return { revision: parseTime(time) ?? 0, isEmpty: Number(isEmpty) === 1 };
}
