import { CompiledQuery, type Kysely } from 'kysely';
import { isSessionError } from '../../errors/errors.js';
import { backoff } from '../../call/backoff.js';
import { requireNotAborted } from '../../call/call.js';
import type { Engine } from '../engines/engine.js';
import { databaseError, failureOf } from '../engines/failure.js';
import type { Steps } from './prepared.js';
import { Waits } from './waits.js';

/** The most retries after a duplicate key: no row was found, and yet inserting it failed. */
const MAX_DUPLICATES = 100;
/** The pauses between attempts, in milliseconds. */
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 50;

/** Whether a transaction will write. Decides how the transaction begins. */
export type Mode = 'write' | 'read';

/**
 * Runs a verb in one transaction.
 *
 * @param work makes the steps of the verb; called again for each attempt
 */
export type Runner = <T>(mode: Mode, work: () => Steps<T>, signal?: AbortSignal) => T | Promise<T>;

/**
 * Runs a transaction, and retries it with backoff while others are in its way: SQLite is busy, a server
 * reports a deadlock or a serialization failure, or the row to insert exists by now.
 *
 * The pauses leave the thread and the connection to others. SQLite's own waiting would block both. Another
 * service in this program that holds the lock could then never release it.
 *
 * @param attempt runs the transaction once; a result without a promise is returned without one
 * @param limits how long it is retried, and the signal that ends the retries
 * @throws SessionError what `attempt` threw, or what the driver's error means
 */
export function retried<T>(
  engine: Engine,
  attempt: () => T | Promise<T>,
  limits: RetryLimits,
): T | Promise<T> {
  try {
    const result = attempt();
    if (!(result instanceof Promise)) return result;
    return result.catch((error: unknown) => again(engine, attempt, error, limits));
  } catch (error) {
    return again(engine, attempt, error, limits);
  }
}

/** How long {@link retried} goes on, and the signal that ends it. */
export interface RetryLimits {
  readonly waits: Waits;
  readonly signal?: AbortSignal | undefined;
}

/** @param failed the error of the first attempt */
async function again<T>(
  engine: Engine,
  attempt: () => T | Promise<T>,
  failed: unknown,
  { waits, signal }: RetryLimits,
): Promise<T> {
  const start = performance.now();
  let error = failed;
  for (let attempts = 0; ; attempts += 1) {
    const failure = isSessionError(error) ? 'other' : failureOf(engine, error);
    const mayPass =
      failure === 'conflict' || (failure === 'duplicate' && attempts < MAX_DUPLICATES);
    if (!mayPass || waits.isOver(start)) throw databaseError(engine, error);
    await new Promise((done) => setTimeout(done, backoff(attempts, FIRST_PAUSE, LONGEST_PAUSE)));
    requireNotAborted(signal);
    try {
      return await attempt();
    } catch (thrown) {
      error = thrown;
    }
  }
}

/** Runs `work` in one transaction on a connection of its own. See {@link retried}. */
export async function inTransaction<Tables, T>(
  database: Kysely<Tables>,
  engine: Engine,
  mode: Mode,
  work: (connection: Kysely<Tables>) => Promise<T>,
  waits = new Waits(),
): Promise<T> {
  const begin = mode === 'write' ? engine.beginWrite : engine.beginRead;
  return retried(
    engine,
    () => database.connection().execute((connection) => once(connection, begin, work)),
    { waits },
  );
}

async function once<Tables, T>(
  connection: Kysely<Tables>,
  begin: readonly string[],
  work: (connection: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    for (const statement of begin) await run(connection, statement);
    result = await work(connection);
    await run(connection, 'commit');
  } catch (error) {
    // If the connection is lost there is nothing to roll back, and `error` says so.
    await run(connection, 'rollback').catch(() => undefined);
    throw error;
  }
  return result;
}

const statements = new Map<string, CompiledQuery>();

function run<Tables>(connection: Kysely<Tables>, statement: string): Promise<unknown> {
  let query = statements.get(statement);
  if (query === undefined) statements.set(statement, (query = CompiledQuery.raw(statement)));
  return connection.executeQuery(query);
}
