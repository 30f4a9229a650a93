/** Who runs what the verbs want of the database: each verb is one transaction. */
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import type { Engine } from './engine.js';
import type { Query, Statement, Steps } from './prepared.js';
import type { Database } from './tables.js';
import { inTransaction, type Mode, retried } from './transaction.js';

/** @param work is begun anew for each attempt */
export type Runner = <T>(mode: Mode, work: () => Steps<T>) => T | Promise<T>;

/** Over whatever Kysely is connected to: a connection of the pool for each verb, and waiting for each query. */
export function kyselyRunner(database: Database, engine: Engine): Runner {
  return (mode, work) =>
    inTransaction(database, engine, mode, (connection) =>
      oneByOne(work(), (query) => run(connection, query)),
    );
}

/** Does what a verb does, waiting for each query before the next. */
export async function oneByOne<T>(
  steps: Steps<T>,
  rowsOf: (query: Query) => Promise<readonly unknown[]>,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const answer: (readonly unknown[])[] = [];
    for (const query of step.value.queries) {
      answer.push(query === undefined ? [] : await rowsOf(query));
    }
    step = steps.next(answer);
  }
  return step.value;
}

async function run(
  connection: Database,
  { statement, values }: Query,
): Promise<readonly unknown[]> {
  const { rows } = await connection.executeQuery({ ...statement.query, parameters: values });
  return rows;
}

/** What is used of a statement: `raw` is better-sqlite3's alone. */
type PreparedStatement = SqliteStatement & { raw?: (isRaw: boolean) => unknown };

/** Gives the rows of a statement that was prepared on a connection. */
type Run = (query: Query) => readonly unknown[];

/**
 * Over a SQLite connection that nobody else uses: from begin to commit in one go. Nothing of this program
 * can come in between, so that no verb waits for the connection.
 */
export function sqliteRunner(database: SqliteDatabase, engine: Engine): Runner {
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

  const once = <T>(mode: Mode, work: () => Steps<T>): T => {
    for (const begin of begins[mode]) begin.run(NONE);
    try {
      const steps = work();
      let step = steps.next();
      let isEnded = false;
      while (step.done !== true) {
        const { queries, isLast } = step.value;
        const answer = queries.map(rowsOf);
        if (isLast) commit.run(NONE);
        isEnded = isLast;
        step = steps.next(answer);
      }
      if (!isEnded) commit.run(NONE);
      return step.value;
    } catch (error) {
      takeBack();
      throw error;
    }
  };

  /** SQLite ends a transaction by itself where the disk is full or broken. */
  const takeBack = () => {
    try {
      rollback.run(NONE);
    } catch {
      // There was none any more.
    }
  };

  return (mode, work) => retried(engine, () => once(mode, work));
}

const NONE: readonly unknown[] = [];

function runOf({ fromColumns }: Statement, prepared: PreparedStatement): Run {
  if (!prepared.reader) {
    return ({ values }) => {
      prepared.run(values);
      return NONE;
    };
  }
  const isRaw = fromColumns !== undefined && prepared.raw !== undefined;
  if (isRaw) prepared.raw?.(true);
  return (query) => {
    if (query.take !== undefined) {
      for (const row of prepared.iterate(query.values)) {
        query.take(isRaw ? fromColumns(row as never) : row);
      }
      return NONE;
    }
    const rows = prepared.all(query.values);
    // That a query has the columns which its builder promised is believed here.
    return isRaw ? (rows as never[]).map(fromColumns) : rows;
  };
}
