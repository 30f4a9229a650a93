// A driver of lists of statements over SQLite. Between two calls, other programs may write.

import Sqlite from 'better-sqlite3';

import type { OptimisticDriver, SqlStatement } from '../../../../../js/service/database/index.js';

/** @param turn is awaited before each call of the driver */
export function sqliteDriver(
  database: Sqlite.Database,
  turn: () => Promise<void> = () => Promise.resolve(),
): OptimisticDriver & { conflicts: number } {
  const run = ({ sql, values }: SqlStatement): object[] => {
    const statement = database.prepare<unknown[], object>(sql);
    if (statement.reader) return statement.all(...values);
    statement.run(...values);
    return [];
  };
  const together = (statements: readonly SqlStatement[]) =>
    database.transaction(() => statements.map(run))();
  return {
    conflicts: 0,
    async read(statements) {
      await turn();
      return together(statements);
    },
    async commit(guards, statements) {
      await turn();
      try {
        together([...guards, ...statements]);
        return true;
      } catch (error) {
        if (!(error instanceof Sqlite.SqliteError)) throw error;
        if (!error.code.startsWith('SQLITE_CONSTRAINT')) throw error;
        this.conflicts += 1;
        return false;
      }
    },
  };
}
