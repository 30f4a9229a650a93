/** Runs verbs on SQLite, each in one transaction. */
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { isSessionError } from '../../errors/errors.js';
import { memberOf } from '../../members/own.js';
import type { Engine } from '../engines/engine.js';
import { failureKind } from '../engines/failure.js';
import type { Query, Statement } from './prepared.js';
import { Attempts, type Runner } from './transaction.js';
import type { Waits } from './waits.js';

/** The parts of a statement that are used. Only better-sqlite3 has `raw` and `columns`. */
type PreparedStatement = SqliteStatement & {
  raw?: (isRaw: boolean) => unknown;
  columns?: () => readonly { readonly name: string }[];
};

/** Runs a prepared statement with a query's values and returns the rows. */
type Run = (query: Query) => readonly unknown[];

/**
 * Runs verbs on a SQLite connection that nobody else uses. Each transaction runs synchronously from begin to
 * commit, so no verb waits for the connection.
 */
export function sqliteRunner(database: SqliteDatabase, engine: Engine, waits: Waits): Runner {
  const prepared = new Map<Statement, Run>();
  const begins = {
    write: engine.beginWrite.map((statement) => database.prepare(statement)),
    read: engine.beginRead.map((statement) => database.prepare(statement)),
  };
  const commit = database.prepare('commit');
  const rollback = database.prepare('rollback');

  const rowsOf = (query: Query | undefined): readonly unknown[] => {
    if (query === undefined) return NONE;
    const { statement } = query;
    let run = prepared.get(statement);
    if (run === undefined) {
      run = runOf(statement, database.prepare(statement.query.sql));
      prepared.set(statement, run);
    }
    return run(query);
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

  const run: Runner = (mode, work, call, attempts = new Attempts(engine, waits, call)) => {
    for (let isAgain = false; ; isAgain = true) {
      try {
        for (const begin of begins[mode]) begin.run(NONE);
        const steps = work();
        let step = steps.next();
        let isEnded = false;
        while (step.done !== true) {
          const { queries, isLast } = step.value;
          const results = queries.map(rowsOf);
          if (isLast) commit.run(NONE);
          isEnded = isLast;
          step = steps.next(results);
        }
        if (!isEnded) commit.run(NONE);
        return step.value;
      } catch (error) {
        // Fails if there is no transaction: SQLite itself ends one if the disk is full or broken.
        succeeds(() => rollback.run(NONE));
        const isFull = !isSessionError(error) && failureKind(engine, error) === 'full';
        if (isAgain || !isFull || !succeeds(checkpoint)) {
          return attempts.pause(error).then(() => run(mode, work, call, attempts));
        }
        call.onRetry?.();
      }
    }
  };
  return run;
}

const NONE: readonly unknown[] = [];

function runOf({ fromColumns }: Statement, prepared: PreparedStatement): Run {
  if (!prepared.reader) {
    return ({ values }) => {
      prepared.run(values);
      return NONE;
    };
  }
  const rowOf = prepared.raw && (fromColumns ?? rowMaker(prepared));
  if (rowOf !== undefined) prepared.raw?.(true);
  return (query) => {
    const take = memberOf(query, 'take');
    if (take !== undefined) {
      for (const row of prepared.iterate(query.values)) {
        take(rowOf === undefined ? row : rowOf(row as never));
      }
      return NONE;
    }
    const rows = prepared.all(query.values);
    // Trusts here that a query has the columns that its builder promised.
    return rowOf === undefined ? rows : (rows as never[]).map((columns) => rowOf(columns));
  };
}

/** A row without a prototype. Instances of a class are as fast to make as other objects. */
class Row {
  [column: string]: unknown;

  static {
    Object.setPrototypeOf(this.prototype, null);
  }
}

/**
 * Returns a function that makes rows from columns. The driver's own rows get their columns by assignment, so
 * they lack any column for which `Object.prototype` has a setter.
 */
function rowMaker(prepared: PreparedStatement): ((columns: never) => unknown) | undefined {
  const names = prepared.columns?.().map(({ name }) => name);
  return (
    names &&
    ((columns: readonly unknown[]) => {
      const row = new Row();
      for (let at = 0; at < names.length; at += 1) row[names[at]!] = columns[at];
      return row;
    })
  );
}
