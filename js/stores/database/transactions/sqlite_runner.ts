/** Runs verbs on SQLite, each in one transaction. */
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { isSessionError } from '../../../values/errors/errors.js';
import type { Runner } from '../engine/connection.js';
import type { Engine } from '../engine/engine.js';
import { failureKind } from '../engine/failure.js';
import type { Query, Statement } from '../engine/prepared.js';
import type { Waits } from '../engine/waits.js';
import { Attempts, beginQueries, inTransaction, ROLLBACK } from './transaction.js';

/**
 * Runs verbs on a SQLite connection that nobody else uses. Each transaction runs synchronously from begin to
 * commit, so no verb waits for the connection.
 */
export function sqliteRunner(database: SqliteDatabase, engine: Engine, waits: Waits): Runner {
  // Weak, since a query that is built for one run has a statement of its own.
  const statements = new WeakMap<Statement, SqliteStatement>();
  const begin = beginQueries(engine, engine.transactions.begin);

  const rowsOf = (query: Query | undefined): readonly unknown[] => {
    if (query === undefined) return NONE;
    const { statement, values } = query;
    let prepared = statements.get(statement);
    if (prepared === undefined) {
      prepared = database.prepare(statement.query.sql);
      statements.set(statement, prepared);
    }
    if (!prepared.reader) {
      prepared.run(values);
      return NONE;
    }
    const take = query.take;
    // Trusts here that a query has the columns that its builder promised.
    if (take === undefined) return prepared.all(values);
    for (const row of prepared.iterate(values)) take(row);
    return NONE;
  };

  const succeeds = (statement: () => unknown): boolean => {
    try {
      statement();
      return true;
    } catch {
      return false;
    }
  };

  /**
   * Writes the log's pages into the file, where most replace existing pages, and truncates the log. Without
   * that a full disk would refuse deletions too.
   */
  const checkpoint = () => database.prepare('pragma wal_checkpoint(truncate)').all(NONE);

  const run: Runner = (mode, work, call, earlier) => {
    for (let isAgain = false; ; isAgain = true) {
      try {
        const steps = inTransaction(begin[mode], work());
        let step = steps.next();
        while (step.done !== true) step = steps.next(step.value.queries.map(rowsOf));
        return step.value;
      } catch (error) {
        // Fails if there is no transaction: SQLite itself ends one if the disk is full or broken.
        succeeds(() => rowsOf(ROLLBACK));
        const isFull = !isSessionError(error) && failureKind(engine, error) === 'full';
        if (isAgain || !isFull || !succeeds(checkpoint)) {
          const attempts = earlier ?? new Attempts(engine, waits, call);
          return attempts.pause(error).then(() => run(mode, work, call, attempts));
        }
        call.onRetry?.();
      }
    }
  };
  return run;
}

const NONE: readonly unknown[] = [];
