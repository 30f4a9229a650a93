/** What our engines write in the same way. An engine that does not writes its own. */
import { type RawBuilder, sql } from 'kysely';
import { plainQuery } from './prepared.js';
import type { Engine } from './engine.js';

export const COMMON_SQL: Pick<Engine, 'limit' | 'savepoint' | 'createUnlessThere'> = {
  limit: (query, count) => query.limit(count),
  savepoint: (name) => ({
    set: plainQuery(`savepoint ${name}`),
    release: plainQuery(`release savepoint ${name}`),
  }),
  createUnlessThere: (table) => table.ifNotExists(),
};

/** Locks the rows of a query until the transaction ends, on engines with `for update`. */
export const LOCKED_ROWS: Pick<Engine, 'locksRows' | 'lock'> = {
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
