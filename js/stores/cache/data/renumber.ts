import { isOfEvent, type Operation } from '../records/records.js';
import type { CacheTransaction } from './cache_transaction.js';

/** Gives operations new numbers, in the same order. */
export function renumber<Renumbered extends Operation>(
  transaction: CacheTransaction,
  operations: readonly Renumbered[],
): Renumbered[] {
  const numbers = new Map<number, number>();
  return operations.map((operation) => {
    const number = transaction.nextNumber();
    numbers.set(operation.number, number);
    const previous = isOfEvent(operation) ? operation.previous : undefined;
    return {
      ...operation,
      number,
      attempts: 0,
      ...(previous !== undefined && { previous: numbers.get(previous) ?? previous }),
    };
  });
}
