import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CreateWrite } from '../../../core/write.js';
import type { CacheTransaction } from './cache_transaction.js';
import { writesOfCreation } from '../overlay/shared_overlay.js';
import { sessionKeyOf } from '../records/cache_key.js';
import { NEW, newRecord, type Operation, withBasis } from '../records/records.js';

/**
 * Puts a creation into the outbox for a session without a copy, so that a write is stored before the remote is asked
 * whether it has the session. If it has, the creation leaves, and what was written is sent. If not, it is taken back.
 *
 * A session whose copy was given up keeps its birth: handles hold. A session that was deleted here gets no stand-in.
 */
export async function standIn(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  now: number,
): Promise<void> {
  if ((await transaction.copies.get(key)) !== undefined) return;
  const givenUp = await transaction.copies.givenUp(key);
  if (givenUp === undefined && transaction.deletedAt(key) > 0) return;
  const number = transaction.nextNumber();
  const birth = givenUp?.birth ?? number;
  await transaction.copies.put(key, newRecord(birth, now));
  await transaction.outbox.change(key, { put: [standInOperation(key, { number, birth, now })] });
}

/** Returns the creation that stands in for a session without a copy. */
export function standInOperation(
  given: CompositeSessionKey,
  { number, birth, now }: { readonly number: number; readonly birth: number; readonly now: number },
): Operation<'create'> {
  const write = {
    ...({
      kind: 'create',
      key: sessionKeyOf(given),
      ifAbsent: true,
      state: '{}',
      delta: '{}',
      sharesState: true,
    } as const),
    ...{ description: { initialState: '{}' }, lastUpdateTime: undefined, now, events: [] },
  };
  return { ...NEW, number, write, basis: { birth, time: now, isThere: true, mustExist: true } };
}

/**
 * Turns a stand-in into a creation, with the state and the title of a call that may create the session. What was written
 * before still needs a session that is there. A session whose copy was given up is not created.
 */
export async function allowCreation(
  transaction: CacheTransaction,
  { key, state, delta, description, sharesState }: CreateWrite,
): Promise<void> {
  const operation = (await transaction.view(key))?.overlay.creation;
  if (operation?.basis.mustExist !== true) return;
  if ((await transaction.copies.givenUp(key)) !== undefined) return;
  const write = { ...operation.write, state, delta, description, sharesState };
  const shared = writesOfCreation(write);
  const allowed = withBasis({ ...operation, write, shared }, { mustExist: undefined });
  await transaction.outbox.change(key, { put: [{ ...allowed, refusal: undefined }] });
}

/** Whether what is written to a session now needs one that is there; see {@link standIn}. */
export function mustExist(creation: Operation<'create'> | undefined): true | undefined {
  return creation?.basis.mustExist === true ? true : undefined;
}
