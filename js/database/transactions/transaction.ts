import { CompiledQuery, type Kysely } from 'kysely';
import { isSessionError } from '../../errors/errors.js';
import { backoff } from '../../call/backoff.js';
import { requireNotAborted } from '../../call/call.js';
import type { Engine } from '../engines/engine.js';
import { databaseError, failureOf } from '../engines/failure.js';
import { Waits } from './waits.js';

/** How often one is tried again that finds no row but cannot insert it. */
const MAX_DUPLICATES = 100;
/** Milliseconds between attempts. */
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 50;

/** Whether a transaction will write; decides how it begins. */
export type Mode = 'write' | 'read';

/**
 * Runs a transaction, and again for as long as others are first: SQLite is busy, a server found a
 * deadlock, a serialization failed, or the row that was to be inserted is there now.
 *
 * What waits here leaves the thread and the connection to others. SQLite's own waiting would block
 * both, and another service of this program, which holds the lock, could never let it go.
 *
 * @param attempt runs it once; what answers at once is given back at once
 * @param limits how long it is run again, and what ends that before
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

/** See {@link retried}. */
export interface RetryLimits {
  readonly waits: Waits;
  readonly signal?: AbortSignal | undefined;
}

/** @param failed what the first attempt threw */
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

/** Runs `work` in one transaction of a connection of its own. See {@link retried}. */
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
    // Where the connection is gone there is nothing to take back, and `error` is the one that tells.
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
