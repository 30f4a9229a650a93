/** Applies answers which say that operations were not stored, or that their session is gone. */
import { removeCopy, removeGone } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { refusalOfDeleted } from '../records/failures.js';
import {
  type AppendOperation,
  eventOf,
  isWaiting,
  type Operation,
  type RewindOperation,
  type SessionOperation,
} from '../records/records.js';
import type { CacheFailure } from '../records/status.js';
import { birthOfCopy } from '../view/session_overlay.js';
import { landShared, type Operations } from './arrived.js';

/** Marks an operation as refused: the remote will never accept it. */
export async function refuse(
  transaction: CacheTransaction,
  operation: Operation,
  failure: CacheFailure,
): Promise<void> {
  const { key } = operation;
  const event = eventOf(operation);
  const refusal = event === undefined ? failure : { ...failure, eventId: event.id };
  await transaction.outbox.change(key, { put: [{ ...operation, refusal, attempts: 0 }] });
}

/** Marks operations as never sent, because the answer says that nothing was stored. */
export async function releaseUnstored(
  transaction: CacheTransaction,
  operations: Operations,
): Promise<void> {
  const put = operations.map((operation): Operation => {
    const released = { ...operation, attempts: 0 };
    return released.kind === 'create' ? { ...released, isThere: undefined } : released;
  });
  await transaction.outbox.change(operations[0].key, { put });
}

/** Makes an operation expect the event's revision at the remote. @returns whether it may be sent with that */
export async function adoptRevision(
  transaction: CacheTransaction,
  operation: AppendOperation | RewindOperation,
  actual: number | null,
): Promise<boolean> {
  const { expected, isBound = false } = operation;
  const isSeen = isBound && actual !== null && actual <= (expected ?? -1);
  const isUnknown = !isBound && expected === null && actual !== null;
  if (!(isSeen || isUnknown)) return false;
  const put = [{ ...operation, expected: actual, isBound: undefined, attempts: 0 }];
  await transaction.outbox.change(operation.key, { put });
  return true;
}

/** Applies the answer that the session of operations is gone from the remote. */
export async function landMissingSession(
  transaction: CacheTransaction,
  [first]: Operations<SessionOperation>,
): Promise<void> {
  const { key } = first;
  const record = await transaction.copies.require(key);
  if (birthOfCopy(record) === first.birth) return removeGone(transaction, key, record);
  await refuse(transaction, first, refusalOfDeleted(key));
}

/** Removes operations that arrived before their session was deleted. */
export async function landBeforeDeletion(
  transaction: CacheTransaction,
  arrived: Operations<SessionOperation>,
): Promise<void> {
  const { birth, key } = arrived[0];
  await landShared(transaction, arrived);
  await transaction.outbox.change(key, { removed: arrived });
  const record = await transaction.copies.get(key);
  if (record === undefined) return;
  if (birthOfCopy(record) === birth) return removeGone(transaction, key, record);
  const operations = await transaction.outbox.of(key);
  const next = operations.find((operation) => operation.birth === birth);
  if (next !== undefined && next.kind !== 'delete' && isWaiting(next)) {
    await refuse(transaction, next, refusalOfDeleted(key));
  }
  if (operations.length === 0 && record.copy === undefined) await removeCopy(transaction, key);
}
