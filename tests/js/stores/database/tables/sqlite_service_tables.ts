import Sqlite from 'better-sqlite3';

/** The tables of google-adk's `SqliteSessionService`, in its order. */
export const SQLITE_SERVICE_TABLES = [
  `create table app_states (app_name text primary key, state text not null, update_time real not null)`,
  `create table user_states (app_name text not null, user_id text not null, state text not null,
     update_time real not null, primary key (app_name, user_id))`,
  `create table sessions (app_name text not null, user_id text not null, id text not null,
     state text not null, create_time real not null, update_time real not null,
     primary key (app_name, user_id, id))`,
  `create table events (id text not null, app_name text not null, user_id text not null,
     session_id text not null, invocation_id text not null, timestamp real not null,
     event_data text not null, primary key (app_name, user_id, session_id, id),
     foreign key (app_name, user_id, session_id) references sessions (app_name, user_id, id)
       on delete cascade)`,
];

/**
 * A new file with these tables.
 *
 * @returns its URL
 */
export function newSqliteServiceFile(path: string, tables = SQLITE_SERVICE_TABLES): string {
  const database = new Sqlite(path);
  for (const table of tables) database.exec(table);
  database.close();
  return `sqlite:${path}`;
}

/** The columns of Python's tables: type, whether NULL is allowed, and position in the primary key. */
export function columnsOf(database: Sqlite.Database): unknown[] {
  return database
    .prepare(
      `select m.name, c.name, lower(c.type), c."notnull" or c.pk > 0, c.pk
       from sqlite_master m join pragma_table_info(m.name) c
       where m.name in ('app_states', 'user_states', 'sessions', 'events') order by 1, c.cid`,
    )
    .raw()
    .all();
}
