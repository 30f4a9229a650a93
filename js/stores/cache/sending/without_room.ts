/** Applies answers for whose effect the local storage has no room. */
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { leaveStale } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { stripShared } from '../verbs/strip.js';
import { expectAcknowledged, keepLocalVersion, type Mutations, sessionOf } from './answers.js';

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
  await transaction.outbox.change(key, { removed: acknowledged });
  await leaveStale(transaction, key);
  await keepLocalVersion(transaction, key, record, acknowledged);
  await expectAcknowledged(transaction, key, acknowledged);
  const numbers = new Set(acknowledged.map(({ number }) => number));
  const owners: StateOwner[] = [];
  for (const scope of SHARED_SCOPES) {
    const [first, ...rest] = acknowledged.filter(({ shared }) => shared[scope] !== undefined);
    if (first === undefined) continue;
    const owner = ownerOf(scope, key);
    await stripShared(transaction, owner, [first, ...rest], numbers);
    owners.push(owner);
  }
  return owners;
}
