import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { loadOptional, missingDriver } from './driver.js';

/** What of `better-sqlite3` is used. */
interface BetterSqlite {
  default: new (path: string, options: object) => SqliteDatabase;
}

/** What of `node:sqlite` is used. */
interface NodeSqlite {
  DatabaseSync: new (
    path: string,
    options: object,
  ) => {
    prepare(sql: string): NodeStatement;
    close(): void;
  };
}

interface NodeStatement {
  all(...parameters: readonly unknown[]): unknown[];
  run(...parameters: readonly unknown[]): {
    changes: number | bigint;
    lastInsertRowid: number | bigint;
  };
  iterate(...parameters: readonly unknown[]): IterableIterator<unknown>;
}

/** More than this package has; a user's own queries through the same connection must not pile up. */
const MAX_STATEMENTS = 500;

/**
 * Opens a SQLite file with `better-sqlite3`, or else with what Node has built in.
 *
 * Neither waits for a lock: that would block the thread, see `inTransaction`.
 *
 * @param options goes to the driver
 * @throws SessionError `storage_unavailable` if there is neither
 */
export async function openSqlite(path: string, options: object): Promise<SqliteDatabase> {
  const better = await loadOptional<BetterSqlite>('better-sqlite3');
  if (better !== undefined) {
    return keepingStatements(new better.default(path, { ...options, timeout: 0 }));
  }
  const builtIn = await loadOptional<NodeSqlite>('node:sqlite');
  if (builtIn === undefined) throw missingDriver('sqlite');
  const database = new builtIn.DatabaseSync(path, options);
  return keepingStatements({
    prepare: (sql) => adapted(sql, database.prepare(sql)),
    close: () => database.close(),
  });
}

/** A statement of `node:sqlite` as one of `better-sqlite3`, which is what Kysely knows. */
function adapted(sql: string, statement: NodeStatement): SqliteStatement {
  return {
    reader: /^\s*(?:select|with|pragma|explain)\b|\breturning\b/i.test(sql),
    all: (parameters) => statement.all(...parameters),
    run: (parameters) => statement.run(...parameters),
    iterate: (parameters) => statement.iterate(...parameters),
  };
}

/** Kysely prepares a statement for every run of it. */
function keepingStatements(database: SqliteDatabase): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = database.prepare(sql);
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      statements.set(sql, statement);
      return statement;
    },
    close: () => database.close(),
  };
}
