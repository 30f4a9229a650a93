import { DatabaseSessionService } from 'adk-session-wasm/database';
import SQLite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';

// Next bundles the package, so it is given its driver. The file is opened at the first call, not while Next builds.
const dialect = new SqliteDialect({ database: () => Promise.resolve(new SQLite('chat.db')) });
const kysely = new Kysely<unknown>({ dialect });

// Next loads this file once for each route. All of them share one service.
const shared = globalThis as { sessions?: DatabaseSessionService };
shared.sessions ??= new DatabaseSessionService({ kysely, engine: 'sqlite' });
export const { sessions } = shared as Required<typeof shared>;

/** A real app takes the user from its login. */
export const USER = { appName: 'chat', userId: 'guest' };
