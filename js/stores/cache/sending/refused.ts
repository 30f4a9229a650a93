/** Applies answers which say that mutations were not stored, or that their session is gone. */
import { applyGone } from '../copies/copy_writer.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isOf, isRefused, isWaiting, type Mutation } from '../outbox/mutation.js';
import { localIdOfCopy } from '../overlay/session_overlay.js';
import { refusalOfDeleted } from '../records/failures.js';
import type { CacheFailure } from '../records/status.js';
import { applyShared, type Mutations, numbersOf, sessionOf } from './answers.js';

/**
 * Marks a mutation as refused, unless it is an event that may replace what the remote has.
 *
 * @param actual the revision of the event that the remote has, if it has refused it for that
 * @returns whether it is refused
 */
export async function refuse(
  transaction: CacheTransaction,
  { write, number }: Mutation,
  refusal: CacheFailure,
  actual?: number | null,
): Promise<boolean> {
  const happening = { type: 'refused', number, refusal, actual } as const;
  const { outbox } = await carryOut(transaction, write.key, happening);
  return outbox.some((each) => each.number === number && isRefused(each));
}

/** Applies the answer that the session of mutations is gone from the remote. */
export async function applyMissingSession(
  transaction: CacheTransaction,
  mutations: Mutations,
): Promise<void> {
  const [first] = mutations;
  const key = sessionOf(mutations);
  const record = await transaction.copies.require(key);
  if (localIdOfCopy(record) === first.localId) await applyGone(transaction, key, record);
  else await refuse(transaction, first, refusalOfDeleted(key));
}

/**
 * Applies the answer that the remote has no session in the place of a provisional one. Mutations that need a session
 * are refused, or removed if a later mutation may create it.
 *
 * @returns the mutations that need a session
 */
export async function applyAbsence(
  transaction: CacheTransaction,
  { write: { key }, number, localId }: Mutation<'create'>,
): Promise<readonly Mutation[]> {
  await transaction.copies.forgetEvicted(key);
  const refusal = refusalOfDeleted(key);
  const { before } = await carryOut(transaction, key, { type: 'absent', number, refusal });
  return before.filter((each) => each.localId === localId && each.needsSession);
}

/** Removes mutations that were acknowledged before their session was deleted. */
export async function applyBeforeDeletion(
  transaction: CacheTransaction,
  acknowledged: Mutations,
): Promise<void> {
  const { localId } = acknowledged[0];
  const key = sessionOf(acknowledged);
  const numbers = numbersOf(acknowledged);
  const { outbox } = await carryOut(transaction, key, { type: 'stored', numbers });
  await applyShared(transaction, acknowledged);
  const record = await transaction.copies.get(key);
  if (record === undefined) return;
  if (localIdOfCopy(record) === localId) return applyGone(transaction, key, record);
  const next = outbox.find((each) => each.localId === localId);
  if (next !== undefined && !isOf(next, 'delete') && isWaiting(next)) {
    await refuse(transaction, next, refusalOfDeleted(key));
  }
}
