import { isOfEvent, type Operation, withBasis } from '../records/records.js';
import type { CacheTransaction } from './cache_transaction.js';

/** Gives operations new numbers, in the same order. */
export function renumber(
  transaction: CacheTransaction,
  operations: readonly Operation[],
): Operation[] {
  const numbers = new Map<number, number>();
  return operations.map((operation) => {
    const number = transaction.nextNumber();
    numbers.set(operation.number, number);
    const renumbered = { ...operation, number, sent: { ...operation.sent, attempts: 0 } };
    if (!isOfEvent(renumbered) || renumbered.basis.previous === undefined) return renumbered;
    const { previous } = renumbered.basis;
    return withBasis(renumbered, { previous: numbers.get(previous) ?? previous });
  });
}
