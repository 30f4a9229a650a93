/** The statements that insert, update and delete rows. */
import { sql } from 'kysely';
import { cached } from './statement_sizes.js';
import type { SharedScope } from '../../../values/state/scope.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { jsonRows, type JsonRows, type KeyedStatement } from '../transactions/lookup.js';
import { Prepared, type Query } from '../engine/prepared.js';
import {
  JOINS_DETAILS,
  isAlsoOfSession,
  type Key,
  isOfSession,
  matchesSession,
  isUser,
} from './session_statements.js';
import { DETAILS, FILE_CHUNKS, FILES, SEARCH, SIDE_TABLE } from '../tables/table_names.js';
import type { Database } from '../tables/tables.js';

/** The columns of a new event. */
export type EventValues = Key & { id: string; invocation: string; time: StoredTime; data: string };

/** The columns of a session's row in the side table. */
interface SideTableValues extends Key {
  updated: StoredTime;
  time: StoredTime;
  replaced: StoredTime | null;
}

/** The changed columns of a session's details. */
type DetailsValues = Key & { title: string | null; labels: string | null };

/** The columns of a new session's details. */
type NewDetailsValues = DetailsValues & {
  created: StoredTime;
  parent: string | null;
  initial: string | null;
};

/** The columns of a shared state. */
type StateValues = Omit<Key, 'session'> & { state: string; updated: StoredTime };

/** The changed columns of a session. */
export type SessionValues = Key & { state: string; updated: StoredTime };

/** The column `facts` of a version of a file without content. */
export const NO_FACTS = '{"facts":{}}';

/** Makes the statements that insert, update and delete rows. */
export function writeStatements(database: Database, engine: Engine) {
  const { hasJsonRows, hasOnConflict } = engine.queries;
  /**
   * Changes several sessions, if the engine `hasJsonRows`. The last condition is always true. It makes the planner
   * expect few rows, so that it uses the index; otherwise it would read the whole table while that is small, and then
   * repeat the plan when it is large.
   */
  const many = (setsState: boolean) =>
    new Prepared<JsonRows, never>((value) =>
      database
        .updateTable('sessions as session')
        .from(jsonRows(value('rows'), ['app', 'user', 'session', 'state', 'updated']))
        .set({
          update_time: sql`cast(given.updated as timestamp)`,
          ...(setsState && { state: sql`cast(given.state as jsonb)` }),
        })
        .where('session.app_name', '=', sql.ref<string>('given.app'))
        .where('session.user_id', '=', sql.ref<string>('given.user'))
        .where('session.id', '=', sql.ref<string>('given.session'))
        .where(sql<boolean>`given.session || '' = given.session`),
    );
  const updateDetails = (column: 'title' | 'labels') =>
    new Prepared<DetailsValues, never>((value) =>
      database
        .updateTable('adk_session_wasm_details')
        .set({ [column]: value(column) })
        .where(isOfSession(value)),
    );
  /** Delete rows of a session, or those of all sessions of a user. */
  const deletions = (isOne: boolean) => {
    const from = (
      table:
        | 'events'
        | typeof SIDE_TABLE
        | typeof DETAILS
        | typeof SEARCH
        | typeof FILES
        | typeof FILE_CHUNKS,
    ) =>
      new Prepared<Key, never>((value) =>
        database.deleteFrom(table).where(isOne ? isOfSession(value) : isUser(value)),
      );
    return {
      events: from('events'),
      sideTable: from(SIDE_TABLE),
      details: from(DETAILS),
      search: from(SEARCH),
      files: from(FILES),
      chunks: from(FILE_CHUNKS),
      sessions: new Prepared<Key, never>((value) =>
        database.deleteFrom('sessions').where(isOne ? matchesSession(value) : isUser(value)),
      ),
    };
  };
  return {
    deleteOne: deletions(true),
    deleteAll: deletions(false),
    /**
     * Locks the files of a user on servers until the transaction ends: by a row that has the name of no file. The row is
     * inserted if it is missing, so that there is always one to wait for.
     */
    lockFilesOfUser: new Prepared<Omit<Key, 'session'>, never>((value) => {
      const row = database.insertInto(FILES).values({
        app_name: value('app'),
        user_id: value('user'),
        owner: '',
        session_id: null,
        name: '',
        version: 0,
        content: null,
        size: 0,
        facts: NO_FACTS,
        create_time: 0,
      });
      if (!hasOnConflict) return row.onDuplicateKeyUpdate({ size: 0 });
      return row.onConflict((conflict) =>
        conflict
          .columns(['app_name', 'user_id', 'owner', 'name', 'version'])
          .doUpdateSet({ size: 0 }),
      );
    }),
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
    /** Changes the time of a session. */
    touchSession: {
      one: new Prepared<SessionValues, never>((value) =>
        database
          .updateTable('sessions')
          .set({ update_time: value('updated') })
          .where(matchesSession(value)),
      ),
      many: hasJsonRows ? many(false) : undefined,
    } satisfies KeyedStatement<SessionValues, never>,
    updateSession: {
      one: new Prepared<SessionValues, never>((value) =>
        database
          .updateTable('sessions')
          .set({ state: value('state'), update_time: value('updated') })
          .where(matchesSession(value)),
      ),
      many: hasJsonRows ? many(true) : undefined,
    } satisfies KeyedStatement<SessionValues, never>,
    insertSideTableRow: new Prepared<SideTableValues, never>((value) =>
      database.insertInto('adk_session_wasm_sessions').values({
        app_name: value('app'),
        user_id: value('user'),
        session_id: value('session'),
        update_time: value('updated'),
        last_update_time: value('time'),
        replaced_at: value('replaced'),
      }),
    ),
    updateSideTableRow: new Prepared<SideTableValues, never>((value) =>
      database
        .updateTable('adk_session_wasm_sessions')
        .set({
          update_time: value('updated'),
          last_update_time: value('time'),
          replaced_at: value('replaced'),
        })
        .where(isOfSession(value)),
    ),
    insertNewDetails: new Prepared<NewDetailsValues, never>((value) =>
      database.insertInto('adk_session_wasm_details').values({
        app_name: value('app'),
        user_id: value('user'),
        session_id: value('session'),
        create_time: value('created'),
        title: value('title'),
        labels: value('labels'),
        parent: value('parent'),
        initial_state: value('initial'),
      }),
    ),
    updateDetails: { title: updateDetails('title'), labels: updateDetails('labels') },
    /** Deletes the details of an earlier session with the id. */
    deleteOldDetails: new Prepared<Key, never>((value) =>
      database
        .deleteFrom('adk_session_wasm_details')
        .where(isOfSession(value))
        .where('create_time', '<>', (of) =>
          of.selectFrom('sessions').select('create_time').where(matchesSession(value)),
        ),
    ),
    /** Inserts empty details of a session that has none. The time is copied: Python's may be finer than ours. */
    insertMissingDetails: new Prepared<Key, never>((value) =>
      database
        .insertInto('adk_session_wasm_details')
        .columns(['app_name', 'user_id', 'session_id', 'create_time'])
        .expression(
          database
            .selectFrom('sessions as session')
            .leftJoin('adk_session_wasm_details as details', (join) => join.on(JOINS_DETAILS))
            .select(['session.app_name', 'session.user_id', 'session.id', 'session.create_time'])
            .where(matchesSession(value, 'session'))
            .where('details.session_id', 'is', null),
        ),
    ),
    /** Sets the title of a session that has details without one. */
    setFirstTitle: new Prepared<Key & { title: string }, never>((value) =>
      database
        .updateTable('adk_session_wasm_details')
        .set({ title: value('title') })
        .where(isOfSession(value))
        .where('title', 'is', null),
    ),
    insertState: {
      app: new Prepared<StateValues, never>((value) =>
        database.insertInto('app_states').values({
          app_name: value('app'),
          state: value('state'),
          update_time: value('updated'),
        }),
      ),
      user: new Prepared<StateValues, never>((value) =>
        database.insertInto('user_states').values({
          app_name: value('app'),
          user_id: value('user'),
          state: value('state'),
          update_time: value('updated'),
        }),
      ),
    } satisfies Record<SharedScope, unknown>,
    updateState: {
      app: new Prepared<StateValues, never>((value) =>
        database
          .updateTable('app_states')
          .set({ state: value('state'), update_time: value('updated') })
          .where('app_name', '=', value('app')),
      ),
      user: new Prepared<StateValues, never>((value) =>
        database
          .updateTable('user_states')
          .set({ state: value('state'), update_time: value('updated') })
          .where(isUser(value)),
      ),
    } satisfies Record<SharedScope, unknown>,
    /** Inserts events of any sessions, with one statement per number of events. */
    insertEvents: cached(
      (events: number) =>
        new Prepared<EventValues, never>((value) =>
          database.insertInto('events').values(
            Array.from({ length: events }, () => ({
              id: value('id'),
              app_name: value('app'),
              user_id: value('user'),
              session_id: value('session'),
              invocation_id: value('invocation'),
              timestamp: value('time'),
              event_data: value('data'),
            })),
          ),
        ),
    ),
    replaceEvent: new Prepared<Omit<EventValues, 'time'>, never>((value) =>
      database
        .updateTable('events')
        .set({ invocation_id: value('invocation'), event_data: value('data') })
        .where('id', '=', value('id'))
        .where(isAlsoOfSession(engine, value)),
    ),
  };
}

/** The statements that delete the rows of one session, or those of all sessions of a user. */
export type Deletions = ReturnType<typeof writeStatements>['deleteOne'];

/** Returns the queries that delete the rows beside those of `sessions`. */
export function deletionsBeside(deletions: Deletions, key: Key): Query[] {
  const { events, sideTable, details, search, files, chunks } = deletions;
  const beside = [events, sideTable, details, search, files, chunks];
  return beside.map((statement) => statement.of(key));
}
