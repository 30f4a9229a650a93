/** Runs verbs on SQLite, each in one transaction. */
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { isSessionError } from '../../errors/errors.js';
import { memberOf } from '../../members/own.js';
import type { Engine } from '../engines/engine.js';
import { failureKind } from '../engines/failure.js';
import type { Query, Statement } from './prepared.js';
import { Attempts, beginQueries, inTransaction, ROLLBACK, type Runner } from './transaction.js';
import type { Waits } from './waits.js';

/** The parts of a statement that are used. Only better-sqlite3 has `raw` and `columns`. */
type PreparedStatement = SqliteStatement & {
  raw?: (isRaw: boolean) => unknown;
  columns?: () => readonly { readonly name: string }[];
};

/** Makes a row from its columns. */
type RowMaker = (columns: readonly unknown[]) => unknown;

/** A statement that the driver has prepared. Its `rowOf` is `undefined` if the driver makes the rows. */
interface DriverStatement {
  readonly prepared: PreparedStatement;
  readonly rowOf: RowMaker | undefined;
}

/**
 * Runs verbs on a SQLite connection that nobody else uses. Each transaction runs synchronously from begin to
 * commit, so no verb waits for the connection.
 */
export function sqliteRunner(database: SqliteDatabase, engine: Engine, waits: Waits): Runner {
  // Weak, since a query that is built for one run has a statement of its own.
  const statements = new WeakMap<Statement, DriverStatement>();
  const begin = beginQueries(engine, engine.begin);

  const rowsOf = (query: Query | undefined): readonly unknown[] => {
    if (query === undefined) return NONE;
    const { statement, values } = query;
    let ofDriver = statements.get(statement);
    if (ofDriver === undefined) {
      ofDriver = driverStatement(database.prepare(statement.query.sql));
      statements.set(statement, ofDriver);
    }
    const { prepared, rowOf } = ofDriver;
    if (!prepared.reader) {
      prepared.run(values);
      return NONE;
    }
    const take = memberOf(query, 'take');
    if (take === undefined) {
      const rows = prepared.all(values);
      // Trusts here that a query has the columns that its builder promised.
      return rowOf === undefined ? rows : (rows as unknown[][]).map(rowOf);
    }
    for (const row of prepared.iterate(values)) {
      take(rowOf === undefined ? row : rowOf(row as unknown[]));
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

function driverStatement(prepared: PreparedStatement): DriverStatement {
  const rowOf = prepared.reader && prepared.raw ? rowMaker(prepared) : undefined;
  if (rowOf !== undefined) prepared.raw?.(true);
  return { prepared, rowOf };
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
function rowMaker(prepared: PreparedStatement): RowMaker | undefined {
  const names = prepared.columns?.().map(({ name }) => name);
  if (names === undefined) return undefined;
  return (columns) => {
    const row = new Row();
    for (let at = 0; at < names.length; at += 1) row[names[at]!] = columns[at];
    return row;
  };
}
