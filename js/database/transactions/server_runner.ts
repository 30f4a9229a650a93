/** Runs verbs on a server, each in one transaction on a connection of its own. */
import type { StorageCall } from '../../model/diagnostic.js';
import type { Begin, Engine } from '../engines/engine.js';
import { commitFailure } from '../engines/failure.js';
import { Lease, type ServerPool } from './lease.js';
import type { Steps } from './prepared.js';
import { Attempts, beginQueries, inTransaction, type Mode, type Runner } from './transaction.js';
import type { Waits } from './waits.js';

/** Returns the runner of a pool. */
export function serverRunner(
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
  begins: Begin = engine.begin,
): Runner {
  const begin = beginQueries(engine, begins);
  return async function run<T>(
    mode: Mode,
    work: () => Steps<T>,
    call: StorageCall,
    attempts: Pick<Attempts, 'pause'> = new Attempts(engine, waits, call),
  ): Promise<T> {
    const { signal, onRetry } = call;
    let lease: Lease | undefined;
    let result: T;
    try {
      lease = await Lease.open(pool, engine, waits, signal);
      const steps = inTransaction(begin[mode], work());
      let step = steps.next();
      while (step.done !== true) {
        const { queries, factor } = step.value;
        step = steps.next(await lease.send(queries, { signal, factor }));
      }
      result = step.value;
    } catch (error) {
      const isInDoubt = mode !== 'read' && lease?.isCommitSent === true;
      const fallsBack = lease?.fallsBack(error) === true;
      await lease?.rollBack();
      if (fallsBack) onRetry?.();
      else {
        const isBroken = !lease?.isUsable;
        await attempts.pause(isInDoubt ? commitFailure(engine, error, isBroken) : error);
      }
      return run(mode, work, call, attempts);
    }
    await lease.release();
    return result;
  };
}
