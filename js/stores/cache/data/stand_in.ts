import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CacheTransaction } from './cache_transaction.js';
import { sessionKeyOf } from '../records/cache_key.js';
import { NEW, newRecord, type Operation } from '../records/records.js';

/**
 * Puts a creation into the outbox for a session that is not known here, so that it can be written to while the remote
 * does not answer. If the remote has the session, what is written is appended to it.
 *
 * A session whose copy was given up is at the remote, so none is created for it. It keeps its birth: handles hold.
 */
export async function standIn(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  now: number,
): Promise<void> {
  const isKnown = (await transaction.copies.get(key)) !== undefined;
  if (isKnown || transaction.deletedAt(key) > 0) return;
  const givenUp = await transaction.copies.givenUp(key);
  const number = transaction.nextNumber();
  const birth = givenUp?.birth ?? number;
  await transaction.copies.put(key, newRecord(birth, now));
  const operation = standInOperation(key, { number, birth, isThere: givenUp !== undefined, now });
  await transaction.outbox.change(key, { put: [operation] });
}

/** Returns the creation of a session that has no copy. */
export function standInOperation(
  given: CompositeSessionKey,
  of: {
    readonly number: number;
    readonly birth: number;
    readonly isThere: boolean;
    readonly now: number;
  },
): Operation<'create'> {
  const { number, birth, now } = of;
  const isThere = of.isThere ? true : undefined;
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
  const basis = { birth, time: now, isThere, mustExist: isThere };
  return { ...NEW, number, write, basis };
}
