/** Runs verbs on a server, each in one transaction on a connection of its own. */
import type { StorageCall } from '../../model/diagnostic.js';
import type { Begin, Engine } from '../engines/engine.js';
import { commitFailure } from '../engines/failure.js';
import type { Steps } from './prepared.js';
import { Attempts, type Mode, type Runner } from './transaction.js';
import { Lease, type ServerPool } from './lease.js';
import type { Waits } from './waits.js';

const COMMIT = ['commit'];
const NONE: readonly string[] = [];

/** Returns the runner of a pool. It sends the begin with the first queries, and the commit with the last ones. */
export function serverRunner(
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
  begins: Begin = engine.begin,
): Runner {
  return async function run<T>(
    mode: Mode,
    work: () => Steps<T>,
    call: StorageCall,
    attempts = new Attempts(engine, waits, call),
  ): Promise<T> {
    const { signal, onRetry } = call;
    let lease: Lease | undefined;
    let result: T;
    try {
      lease = await Lease.open(pool, engine, waits, signal);
      let begin = begins[mode];
      let isEnded = true;
      const steps = work();
      let step = steps.next();
      while (step.done !== true) {
        const { queries, isLast } = step.value;
        const statements = [...begin, ...queries, ...(isLast ? COMMIT : NONE)];
        const results = await lease.send(statements, { signal });
        const rows = results.slice(begin.length, begin.length + queries.length);
        begin = NONE;
        isEnded = isLast;
        step = steps.next(rows);
      }
      if (!isEnded) await lease.send(COMMIT, { signal });
      result = step.value;
    } catch (error) {
      const isInDoubt = mode === 'write' && lease?.isCommitSent === true;
      await lease?.rollBack();
      if (lease?.fallsBack(error) === true) onRetry?.();
      else await attempts.pause(isInDoubt ? commitFailure(engine, error) : error);
      return run(mode, work, call, attempts);
    }
    lease.release();
    return result;
  };
}
