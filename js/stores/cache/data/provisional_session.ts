/** Provisional sessions: created without a copy, to write to them before the remote is asked. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CreateWrite } from '../../../core/write.js';
import type { CacheTransaction } from './cache_transaction.js';
import { writesOfCreation } from '../overlay/shared_overlay.js';
import { pickSessionKey } from '../records/cache_key.js';
import { NEW, newRecord, type Mutation, withBase } from '../records/records.js';

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
  await transaction.outbox.change(key, {
    put: [provisionalCreation(key, { number, localId, now })],
  });
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
  return { ...NEW, number, write, base: { localId, time: now, isThere: true, mustExist: true } };
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
  if (mutation?.base.mustExist !== true) return;
  if ((await transaction.copies.evicted(key)) !== undefined) return;
  const write = { ...mutation.write, state, delta, description, sharesState };
  const shared = writesOfCreation(write);
  const allowed = withBase({ ...mutation, write, shared }, { mustExist: undefined });
  await transaction.outbox.change(key, { put: [{ ...allowed, refusal: undefined }] });
}

/** Whether what is written to a session now needs one that is there; see {@link putProvisional}. */
export function creationMustExist(creation: Mutation<'create'> | undefined): true | undefined {
  return creation?.base.mustExist === true ? true : undefined;
}
