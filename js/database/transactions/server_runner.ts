/** Runs verbs on a server, each in one transaction on a connection of its own. */
import { ownMembers } from '../../members/own.js';
import type { StorageCall } from '../../model/diagnostic.js';
import type { Begin, Engine } from '../engines/engine.js';
import { commitFailure } from '../engines/failure.js';
import type { Query, Steps } from './prepared.js';
import { Attempts, framesOf, type Mode, type Runner } from './transaction.js';
import { Lease, type ServerPool } from './lease.js';
import type { Waits } from './waits.js';

const NONE: readonly Query[] = [];

/** Returns the runner of a pool. It sends the begin with the first queries, and the commit with the last ones. */
export function serverRunner(
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
  begins: Begin = engine.begin,
): Runner {
  const frames = framesOf(engine, begins);
  return async function run<T>(
    mode: Mode,
    work: () => Steps<T>,
    call: StorageCall,
    attempts: Pick<Attempts, 'pause'> = new Attempts(engine, waits, call),
  ): Promise<T> {
    const { signal, onRetry } = call;
    const frame = frames[mode];
    let lease: Lease | undefined;
    let result: T;
    try {
      lease = await Lease.open(pool, engine, waits, signal);
      let { begin } = frame;
      let isEnded = true;
      const steps = work();
      let step = steps.next();
      while (step.done !== true) {
        const { queries, isLast, factor } = ownMembers(step.value);
        const sent = [...begin, ...queries, ...(isLast ? frame.end : NONE)];
        const { length: start } = begin;
        begin = NONE;
        isEnded = isLast;
        const results = await lease.send(sent, { signal, factor });
        step = steps.next(results.slice(start, start + queries.length));
      }
      if (!isEnded) await lease.send(frame.end, { signal });
      result = step.value;
    } catch (error) {
      const isInDoubt = mode !== 'read' && lease?.isCommitSent === true;
      const fallsBack = lease?.fallsBack(error) === true;
      await lease?.rollBack();
      if (fallsBack) onRetry?.();
      else await attempts.pause(isInDoubt ? commitFailure(engine, error, !lease?.isUsable) : error);
      return run(mode, work, call, attempts);
    }
    await lease.release();
    return result;
  };
}
