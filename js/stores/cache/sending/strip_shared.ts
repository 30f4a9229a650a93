import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { writtenBy } from '../outbox/moving.js';
import type { Mutation, SharedWrite } from '../outbox/mutation.js';
import { keyOfName } from '../records/cache_key.js';

/** What stored mutations write to the state of a user or an app. */
interface StoredWrites {
  readonly owner: StateOwner;
  readonly writes: readonly (SharedWrite & { readonly number: number })[];
}

/**
 * Removes the values that stored mutations have overtaken: those of the same keys in mutations with lower numbers,
 * which wait behind a refusal. Sent later, they would replace the newer values.
 *
 * @returns what the mutations write to each state
 */
export async function stripShared(
  transaction: CacheTransaction,
  mutations: readonly Mutation[],
): Promise<readonly StoredWrites[]> {
  const stored: StoredWrites[] = [];
  for (const scope of SHARED_SCOPES) {
    const writes = mutations.flatMap(({ number, shared: { [scope]: write } }) =>
      write === undefined ? [] : [{ ...write, number }],
    );
    const last = writes.at(-1)?.number;
    if (last === undefined) continue;
    const owner = ownerOf(scope, mutations[0]!.write.key);
    stored.push({ owner, writes });
    const own = new Set(writes.map(({ number }) => number));
    const overtaken = new Set<number>();
    for (const { number, values } of await transaction.states.writes(owner)) {
      if (number >= last) break;
      const isOvertaken = writtenBy(writes.filter((write) => write.number > number));
      if (!own.has(number) && values.some(([key]) => isOvertaken(key))) overtaken.add(number);
    }
    if (overtaken.size === 0) continue;
    for (const [name, all] of await transaction.outbox.below(owner)) {
      if (!all.some(({ number }) => overtaken.has(number))) continue;
      await carryOut(transaction, keyOfName(name), { type: 'stripped', scope, writes });
    }
  }
  return stored;
}
