/** Runs verbs on SQLite, each in one transaction. */
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { isSessionError } from '../../errors/errors.js';
import { memberOf } from '../../members/own.js';
import type { Engine } from '../engines/engine.js';
import { failureKind } from '../engines/failure.js';
import type { Query, Statement } from './prepared.js';
import { Attempts, framesOf, ROLLBACK, type Runner } from './transaction.js';
import type { Waits } from './waits.js';

/** The parts of a statement that are used. Only better-sqlite3 has `raw` and `columns`. */
type PreparedStatement = SqliteStatement & {
  raw?: (isRaw: boolean) => unknown;
  columns?: () => readonly { readonly name: string }[];
};

/** A statement that the driver has prepared, and how its rows are made. */
interface DriverStatement {
  readonly prepared: PreparedStatement;
  readonly isReader: boolean;
  /** Makes a row from its columns; `undefined` if the driver makes the rows. */
  readonly rowOf: ((columns: never) => unknown) | undefined;
}

/**
 * Runs verbs on a SQLite connection that nobody else uses. Each transaction runs synchronously from begin to
 * commit, so no verb waits for the connection.
 */
export function sqliteRunner(database: SqliteDatabase, engine: Engine, waits: Waits): Runner {
  // Weak, since a query that is built for one run has a statement of its own.
  const statements = new WeakMap<Statement, DriverStatement>();
  const frames = framesOf(engine, engine.begin);

  const rowsOf = (query: Query | undefined): readonly unknown[] => {
    if (query === undefined) return NONE;
    const { statement, values } = query;
    let ofDriver = statements.get(statement);
    if (ofDriver === undefined) {
      ofDriver = driverStatement(statement, database.prepare(statement.query.sql));
      statements.set(statement, ofDriver);
    }
    const { prepared, isReader, rowOf } = ofDriver;
    if (!isReader) {
      prepared.run(values);
      return NONE;
    }
    const take = memberOf(query, 'take');
    if (take === undefined) {
      const rows = prepared.all(values);
      // Trusts here that a query has the columns that its builder promised.
      return rowOf === undefined ? rows : (rows as never[]).map((columns) => rowOf(columns));
    }
    for (const row of prepared.iterate(values)) {
      take(rowOf === undefined ? row : rowOf(row as never));
    }
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
    const { begin, end } = frames[mode];
    for (let isAgain = false; ; isAgain = true) {
      try {
        begin.forEach(rowsOf);
        const steps = work();
        let step = steps.next();
        let isEnded = false;
        while (step.done !== true) {
          const { queries, isLast } = step.value;
          const results = queries.map(rowsOf);
          if (isLast) end.forEach(rowsOf);
          isEnded = isLast;
          step = steps.next(results);
        }
        if (!isEnded) end.forEach(rowsOf);
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

function driverStatement({ fromColumns }: Statement, prepared: PreparedStatement): DriverStatement {
  const isReader = prepared.reader;
  const rowOf = isReader && prepared.raw ? (fromColumns ?? rowMaker(prepared)) : undefined;
  if (rowOf !== undefined) prepared.raw?.(true);
  return { prepared, isReader, rowOf };
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
