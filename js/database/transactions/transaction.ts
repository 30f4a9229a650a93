import { isSessionError } from '../../errors/errors.js';
import { backoff } from '../../call/backoff.js';
import { requireNotAborted } from '../../call/call.js';
import type { StorageCall } from '../../model/diagnostic.js';
import type { Engine } from '../engines/engine.js';
import { databaseError, failureKind } from '../engines/failure.js';
import type { Steps } from './prepared.js';
import type { Waits } from './waits.js';

/** The most retries after a duplicate key: no row was found, and yet inserting it failed. */
const MAX_DUPLICATES = 100;
/** The pauses between attempts, in milliseconds. */
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 50;

/** Whether a transaction will write. Decides how the transaction begins. */
export type Mode = 'write' | 'read';

/** Runs a verb in one transaction, once. */
export type Runner = <T>(mode: Mode, work: () => Steps<T>, call?: StorageCall) => T | Promise<T>;

/**
 * Runs a transaction, and retries it with backoff while others are in its way: SQLite is busy, a server
 * reports a deadlock or a serialization failure, or the row to insert exists by now.
 *
 * The pauses leave the thread and the connection to others. SQLite's own waiting would block both. Another
 * service in this program that holds the lock could then never release it.
 *
 * @param attempt runs the transaction once; a result without a promise is returned without one
 * @param waits how long conflicts are retried, counted from the begin of the first attempt
 * @param call its signal ends the retries
 * @throws SessionError what `attempt` threw, or what the driver's error means
 */
export function retried<T>(
  engine: Engine,
  attempt: () => T | Promise<T>,
  waits: Waits,
  { signal, onRetry }: StorageCall = {},
): T | Promise<T> {
  const start = performance.now();
  const again = async (failed: unknown): Promise<T> => {
    let error = failed;
    for (let attempts = 0; ; attempts += 1) {
      const failure = isSessionError(error) ? 'other' : failureKind(engine, error);
      // The next attempt finds the row of a duplicate key, so its retries are counted and not timed.
      const mayPass =
        failure === 'duplicate'
          ? attempts < MAX_DUPLICATES
          : failure === 'conflict' && !waits.isOver(start);
      if (!mayPass) throw databaseError(engine, error);
      await new Promise((done) => setTimeout(done, backoff(attempts, FIRST_PAUSE, LONGEST_PAUSE)));
      requireNotAborted(signal);
      onRetry?.();
      try {
        return await attempt();
      } catch (thrown) {
        error = thrown;
      }
    }
  };
  try {
    const result = attempt();
    return result instanceof Promise ? result.catch(again) : result;
  } catch (error) {
    return again(error);
  }
}
