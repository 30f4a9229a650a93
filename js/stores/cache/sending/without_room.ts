/** Applies answers for whose effect the local storage has no room. */
import type { StateOwner } from '../../../core/storage/scopes.js';
import { leaveStale } from '../copies/copy_writer.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { keepLocalVersion, type Mutations, numbersOf, sessionOf } from './answers.js';
import { stripShared } from './strip_shared.js';

/**
 * Removes acknowledged appends without a change of the copy, which is fetched later. So the outbox gets smaller on a
 * full disk.
 *
 * @returns the users and apps whose states are to be fetched
 */
export async function applyWithoutRoom(
  transaction: CacheTransaction,
  acknowledged: Mutations<'append'>,
): Promise<readonly StateOwner[]> {
  const key = sessionOf(acknowledged);
  const record = await transaction.copies.require(key);
  await carryOut(transaction, key, { type: 'stored', numbers: numbersOf(acknowledged) });
  await leaveStale(transaction, key);
  await keepLocalVersion(transaction, key, record, acknowledged);
  return (await stripShared(transaction, acknowledged)).map(({ owner }) => owner);
}
