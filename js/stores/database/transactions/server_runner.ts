/** Runs verbs on a server, each in one transaction on a connection of its own. */
import type { StorageCall } from '../../../values/model/diagnostic.js';
import type { Begin, Connection, Mode, AttemptPolicy } from '../engine/connection.js';
import type { Engine } from '../engine/engine.js';
import { commitFailure } from '../engine/failure.js';
import type { Steps } from '../engine/prepared.js';
import type { Waits } from '../engine/waits.js';
import { Lease, type ServerPool } from './lease.js';
import { Attempts, beginQueries, inTransaction } from './transaction.js';

/** Returns the connection over a pool. @param begins the statements that begin a transaction on it */
export function serverConnection(
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
  begins: Begin = engine.transactions.begin,
): Connection {
  const begin = beginQueries(engine, begins);
  async function run<T>(
    mode: Mode,
    work: () => Steps<T>,
    call: StorageCall,
    attempts: AttemptPolicy = new Attempts(engine, waits, call),
  ): Promise<T> {
    const { signal } = call;
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
      if (fallsBack) call.onRetry?.();
      else {
        const isBroken = !lease?.isUsable;
        await attempts.pause(isInDoubt ? commitFailure(engine, error, isBroken) : error);
      }
      return run(mode, work, call, attempts);
    }
    await lease.release();
    return result;
  }
  return { run, close: () => pool.end() };
}
