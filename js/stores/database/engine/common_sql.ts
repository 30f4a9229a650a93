/** What several engines have in common. */
import { type RawBuilder, sql } from 'kysely';
import type { EngineTransactions } from './engine.js';

/** Locks the rows of a query until the transaction ends, on engines with `for update`. */
export const LOCKED_ROWS: Pick<EngineTransactions, 'locksRows' | 'lock'> = {
  locksRows: true,
  lock(query, skipsLocked = false) {
    const locked = query.forUpdate();
    return skipsLocked ? locked.skipLocked() : locked;
  },
};

/** Returns the `where` clause of a statement that creates an index. It is empty without a condition. */
export function condition(where: RawBuilder<boolean> | undefined): RawBuilder<unknown> {
  return where === undefined ? sql`` : sql` where ${where}`;
}
