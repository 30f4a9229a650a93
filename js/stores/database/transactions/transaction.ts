import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { requireNotAborted } from '../../../core/call/call.js';
import { backoff } from '../../../core/call/scheduling.js';
import { TurnLimit } from '../../../core/call/turn_limit.js';
import { isSessionError } from '../../../values/errors/errors.js';
import type { StorageCall } from '../../../values/model/diagnostic.js';
import type { Begin, Mode, AttemptPolicy, TransactionRunner } from '../engine/connection.js';
import type { Engine } from '../engine/engine.js';
import { databaseError, failureKind } from '../engine/failure.js';
import {
  plainQuery,
  type Query,
  type QueryResults,
  type Steps,
  type Statement,
} from '../engine/prepared.js';
import type { Waits } from '../engine/waits.js';

/** The most retries after a duplicate key: no row was found, and yet inserting it failed. */
const MAX_DUPLICATES = 100;

/** The pauses between attempts, in milliseconds. */
export interface Pauses {
  readonly first: number;
  readonly longest: number;
}

const PAUSES: Pauses = { first: 1, longest: 50 };

/** Ends every transaction. A `Lease` recognises it by identity, to tell that the commit was sent. */
export const COMMIT = plainQuery('commit');
export const ROLLBACK = plainQuery('rollback');

/** The queries that begin a transaction, by its mode. */
export type BeginQueries = Readonly<Record<Mode, readonly Query[]>>;

/** @param begins the statements that begin a read and a write on these connections */
export function beginQueries(engine: Engine, begins: Begin): BeginQueries {
  return {
    read: begins.read.map(plainQuery),
    write: begins.write.map(plainQuery),
    createTables: engine.transactions.begin.write.map(plainQuery),
    autocommit: [],
  };
}

/** Puts the begin before the first queries of the steps, and the commit behind the last ones. */
export function* inTransaction<T>(begin: readonly Query[], steps: Steps<T>): Steps<T> {
  const commit = begin.length > 0 ? [COMMIT] : [];
  let before = begin;
  let isCommitted = false;
  let step = steps.next();
  while (step.done !== true) {
    const { queries, isLast } = step.value;
    const { length: start } = before;
    const all = [...before, ...queries, ...(isLast ? commit : [])];
    const results = yield { queries: all, isLast, factor: step.value.factor };
    before = [];
    isCommitted = isLast;
    step = steps.next(results.slice(start, start + queries.length));
  }
  if (!isCommitted) yield { queries: [...before, ...commit], isLast: true, factor: undefined };
  return step.value;
}

/**
 * The attempts of one transaction. It is retried with backoff while others are in its way: SQLite is busy, a server
 * reports a deadlock or a serialization failure, or has stopped a wait for a lock, or the row to insert exists by now.
 *
 * The pauses leave the thread and the connection to others. SQLite's own waiting would block both. Another
 * service in this program that holds the lock could then never release it.
 */
export class Attempts implements AttemptPolicy {
  readonly #engine: Engine;
  readonly #waits: Waits;
  readonly #call: StorageCall;
  readonly #start = performance.now();
  readonly #pauses: Pauses;
  #failed = 0;

  /**
   * @param waits how long conflicts are retried, counted from the begin of the first attempt
   * @param call its signal ends the retries
   */
  constructor(engine: Engine, waits: Waits, call: StorageCall = {}, pauses = PAUSES) {
    this.#pauses = pauses;
    this.#engine = engine;
    this.#waits = waits;
    this.#call = call;
  }

  async pause(error: unknown, mode: Mode): Promise<void> {
    const failure = isSessionError(error) ? 'other' : failureKind(this.#engine, error);
    // A server may stop a statement that waits for a row lock before this service's own limit.
    const isInTheWay = failure === 'conflict' || (failure === 'slow' && mode === 'write');
    // The next attempt finds the row of a duplicate key, so its retries are counted and not timed.
    const mayPass =
      failure === 'duplicate'
        ? this.#failed < MAX_DUPLICATES
        : isInTheWay && !this.#waits.isOver(this.#start);
    if (!mayPass) throw databaseError(this.#engine, error);
    const milliseconds = backoff(this.#failed, this.#pauses.first, this.#pauses.longest);
    this.#failed += 1;
    await new Promise((done) => setTimeout(done, milliseconds));
    requireNotAborted(this.#call.signal);
    this.#call.onRetry?.();
  }
}

/** Returns the attempts of work that is not retried. */
export function oneAttempt(engine: Engine): AttemptPolicy {
  return { pause: (error) => Promise.reject(databaseError(engine, error)) };
}

// Runs verbs on SQLite, each in one transaction.

/** Runs work in one transaction. It commits if the work returns, and rolls back if it throws. */
export type SqliteTransaction = <T>(mode: Exclude<Mode, 'autocommit'>, work: () => T) => T;

/**
 * Runs verbs on a SQLite connection. Each transaction runs synchronously from begin to commit, so no verb waits for
 * the connection. After {@link TRANSACTIONS_MS} the next one waits for a turn of the event loop.
 *
 * @param given runs transactions in place of the statements `begin`, `commit` and `rollback`
 */
export function sqliteRunner(
  database: SqliteDatabase,
  engine: Engine,
  waits: Waits,
  given?: SqliteTransaction,
): TransactionRunner {
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

  const byStatements: SqliteTransaction = (mode, work) => {
    begin[mode].forEach(rowsOf);
    try {
      const result = work();
      rowsOf(COMMIT);
      return result;
    } catch (error) {
      // Fails if there is no transaction: SQLite itself ends one if the disk is full or broken.
      succeeds(() => rowsOf(ROLLBACK));
      throw error;
    }
  };

  const transaction = given ?? byStatements;
  const turns = new TurnLimit(TRANSACTIONS_MS);
  const run: TransactionRunner = (mode, work, call, earlier) => {
    if (turns.mayBegin()) return runNow(mode, work, call, earlier);
    return turns.next().then(() => {
      requireNotAborted(call.signal);
      return runNow(mode, work, call, earlier);
    });
  };
  const runNow: TransactionRunner = (mode, work, call, earlier) => {
    for (let isAgain = false; ; isAgain = true) {
      try {
        const steps = work();
        let step = steps.next();
        const advance = (): QueryResults | undefined => {
          while (step.done !== true) {
            const rows = step.value.queries.map(rowsOf);
            // The commit comes before the steps see these rows.
            if (step.value.isLast) return rows;
            step = steps.next(rows);
          }
          return undefined;
        };
        const last = mode === 'autocommit' ? advance() : transaction(mode, advance);
        if (last !== undefined) step = steps.next(last);
        while (step.done !== true) step = steps.next(step.value.queries.map(rowsOf));
        return step.value;
      } catch (error) {
        const isFull = !isSessionError(error) && failureKind(engine, error) === 'full';
        if (isAgain || !isFull || !succeeds(checkpoint)) {
          const attempts = earlier ?? new Attempts(engine, waits, call);
          return attempts.pause(error, mode).then(() => run(mode, work, call, attempts));
        }
        call.onRetry?.();
      }
    }
  };
  return run;
}

const NONE: readonly unknown[] = [];

/** How long transactions may hold a turn of the event loop, in milliseconds. */
const TRANSACTIONS_MS = 20;
