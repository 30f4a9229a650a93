/** Applies answers which say that operations were not stored, or that their session is gone. */
import type { CompositeSessionKey } from '../../model/session.js';
import type { Notice } from '../../model/notice.js';
import { removeCopy, removeGone } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { refusalOfDeleted } from '../records/failures.js';
import type { Operation, Refusal } from '../records/records.js';
import { landShared, stillWaiting } from './arrived.js';

/** Marks the first of the operations as refused: the remote will never accept them. */
export async function refuse(
  transaction: CacheTransaction,
  sent: readonly Operation[],
  refusal: Refusal,
): Promise<void> {
  const [first] = sent;
  if (first === undefined) return;
  const [operation] = await stillWaiting(transaction, first.key, [first]);
  if (operation === undefined) return;
  const eventId = operation.event?.id ?? refusal.eventId;
  const named = eventId === undefined ? refusal : { ...refusal, eventId };
  await transaction.changeOperations(first.key, {
    put: [{ ...operation, refusal: named, attempts: 0 }],
  });
}

/** Marks operations as never sent, because the answer says that nothing was stored. */
export async function releaseUnstored(
  transaction: CacheTransaction,
  sent: readonly Operation[],
): Promise<void> {
  const [first] = sent;
  if (first === undefined) return;
  const present = await stillWaiting(transaction, first.key, sent);
  const put = present.map((operation) => ({ ...operation, attempts: 0 }));
  await transaction.changeOperations(first.key, { put });
}

/** Makes an operation expect the event's revision at the remote. @returns whether it may be sent with that */
export async function adoptRevision(
  transaction: CacheTransaction,
  sent: Operation,
  actual: number | null,
): Promise<boolean> {
  const [operation] = await stillWaiting(transaction, sent.key, [sent]);
  const { expected, isBound = false } = operation ?? {};
  const isSeen = isBound && actual !== null && expected !== null && actual <= expected!;
  const isUnknown = !isBound && expected === null && actual !== null;
  if (operation === undefined || !(isSeen || isUnknown)) return false;
  const put = [{ ...operation, expected: actual, isBound: undefined, attempts: 0 }];
  await transaction.changeOperations(operation.key, { put });
  return true;
}

/** Applies the answer that the session of operations is gone from the remote. */
export async function landMissingSession(
  transaction: CacheTransaction,
  sent: readonly Operation[],
): Promise<readonly Notice[]> {
  const key = sent[0]!.key as CompositeSessionKey;
  const present = await stillWaiting(transaction, key, sent);
  if (present.length === 0) return [];
  const record = (await transaction.session(key))!;
  if (record.copy !== undefined && record.birth === present[0]!.birth) {
    return removeGone(transaction, key, record);
  }
  await refuse(transaction, sent, refusalOfDeleted(key));
  return [];
}

/** Removes operations that arrived before their session was deleted. */
export async function landBeforeDeletion(
  transaction: CacheTransaction,
  sent: readonly Operation[],
): Promise<readonly Notice[]> {
  const key = sent[0]!.key as CompositeSessionKey;
  const present = await stillWaiting(transaction, key, sent);
  if (present.length === 0) return [];
  await landShared(transaction, present);
  await transaction.changeOperations(key, { removed: present });
  const record = await transaction.session(key);
  if (record === undefined) return [];
  const { birth } = present[0]!;
  if (record.copy !== undefined && record.birth === birth)
    return removeGone(transaction, key, record);
  const operations = await transaction.operations(key);
  const first = operations.find((operation) => operation.birth === birth);
  if (first !== undefined && first.kind !== 'delete') {
    await refuse(transaction, [first], refusalOfDeleted(key));
  }
  if (operations.length === 0 && record.copy === undefined)
    return [await removeCopy(transaction, key)];
  return [];
}
