// Databases that we share with google-adk for Python.

import { join } from 'node:path';
import { after, before } from 'node:test';
import Sqlite from 'better-sqlite3';
import pg from 'pg';

import { emptied, type Server, startPostgres } from '../../js/stores/database/servers.js';
import { newSqliteServiceFile } from '../../js/stores/database/tables/sqlite_service_tables.js';
import { newFolder } from '../../new_folder.js';

/** One database by the names that each side has for it. */
export interface SharedDatabase {
  readonly ours: string;
  readonly python: string;
}

/** Gives a database without tables. On a server it is the same one each time. */
export type NewDatabase = () => Promise<SharedDatabase>;

/** SQLite files, for as long as the process runs. */
export function sqliteFiles(): NewDatabase {
  const newFile = newFiles();
  return () => {
    const file = newFile();
    return Promise.resolve({ ours: `sqlite:${file}`, python: `sqlite+aiosqlite:///${file}` });
  };
}

/** The same with the tables of Python's SqliteSessionService, which is what the URL without driver means. */
export function sqliteServiceFiles(): NewDatabase {
  const newFile = newFiles();
  return () => {
    const file = newFile();
    const ours = newSqliteServiceFile(file);
    return Promise.resolve({ ours, python: `sqlite:///${file}` });
  };
}

/**
 * Names of files that are not there yet. They are removed when the process ends: hooks run in the order in which they
 * were made, and a server that a later hook ends still writes to its file.
 */
export function newFiles(): () => string {
  const folder = newFolder();
  let files = 0;
  return () => join(folder, `${++files}.db`);
}

/** Counts rows by a query for both engines, past both services. */
export async function countIn({ ours }: SharedDatabase, query: string): Promise<number> {
  if (ours.startsWith('sqlite:')) {
    const database = new Sqlite(ours.slice('sqlite:'.length), { readonly: true });
    const count = database.prepare(query).pluck().get();
    database.close();
    return Number(count);
  }
  const client = new pg.Client({ connectionString: ours });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(query);
  await client.end();
  return Number(rows[0]?.count);
}

/** PostgreSQL, for as long as the suite runs that calls it. */
export function postgres(): NewDatabase {
  let server: Server;
  before(async () => (server = await startPostgres()));
  after(() => server.remove());
  return async () => {
    const ours = await emptied('postgresql', server);
    return { ours, python: ours.replace('postgresql:', 'postgresql+asyncpg:') };
  };
}

/** The engines that both sides write: what to call them, and what starts them. */
export const SHARED_ENGINES: readonly (readonly [title: string, start: () => NewDatabase])[] = [
  ['one SQLite file', sqliteFiles],
  ["one file of Python's SqliteSessionService", sqliteServiceFiles],
  ['one PostgreSQL database', postgres],
];
