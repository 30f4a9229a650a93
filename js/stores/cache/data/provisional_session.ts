/** Provisional sessions: created without a copy, to write to them before the remote is asked. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CreateWrite } from '../../../core/write.js';
import { carryOut } from './carry_out.js';
import type { CacheTransaction } from './cache_transaction.js';
import { writesOfCreation } from '../overlay/shared_overlay.js';
import { pickSessionKey } from '../records/cache_key.js';
import { newRecord } from '../records/records.js';
import { type Mutation, NEW } from '../outbox/mutation.js';

/**
 * Puts a creation into the outbox for a session without a copy, so that a write is stored before the remote is asked
 * whether it has the session. If it has, the creation leaves, and what was written is sent. If not, it is taken back.
 *
 * A session whose copy was evicted keeps its local id: handles hold. A session that was deleted here gets no
 * provisional session.
 */
export async function putProvisional(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  now: number,
): Promise<void> {
  if ((await transaction.copies.get(key)) !== undefined) return;
  const evicted = await transaction.copies.evicted(key);
  if (evicted === undefined && transaction.deletedAt(key) > 0) return;
  const number = transaction.nextNumber();
  const localId = evicted?.localId ?? number;
  await transaction.copies.put(key, newRecord(localId, now));
  const mutations = [provisionalCreation(key, { number, localId, now })];
  await carryOut(transaction, key, { type: 'added', mutations });
}

/** Returns the creation of a provisional session, which has no copy. */
export function provisionalCreation(
  given: CompositeSessionKey,
  {
    number,
    localId,
    now,
  }: { readonly number: number; readonly localId: number; readonly now: number },
): Mutation<'create'> {
  const write = {
    ...({
      kind: 'create',
      key: pickSessionKey(given),
      ifAbsent: true,
      state: '{}',
      delta: '{}',
      sharesState: true,
    } as const),
    description: { initialState: '{}' },
    lastUpdateTime: undefined,
    now,
    events: [],
  };
  return { ...NEW, number, write, localId, time: now, creation: 'provisional' };
}

/**
 * Turns a provisional session into a creation, with the state and the title of a call that may create the session. What
 * was written before still needs a session that is there. A session whose copy was evicted is not created.
 */
export async function allowCreation(
  transaction: CacheTransaction,
  { key, state, delta, description, sharesState }: CreateWrite,
): Promise<void> {
  const mutation = (await transaction.view(key))?.overlay.creation;
  if (mutation === undefined || !isProvisional(mutation)) return;
  if ((await transaction.copies.evicted(key)) !== undefined) return;
  const write = { ...mutation.write, state, delta, description, sharesState };
  const shared = writesOfCreation(write);
  const { number } = mutation;
  await carryOut(transaction, key, { type: 'allowed', number, write, shared });
}

/** Whether what is written to a session now needs one that is there; see {@link putProvisional}. */
export function isProvisional(creation: Mutation<'create'> | undefined): boolean {
  return creation?.creation === 'provisional';
}
